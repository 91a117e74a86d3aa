// C++ exceptions of the Microsoft ABI: catch blocks and destructors become
// funclets that only the exception tables name.
extern "C" void may_throw(int);
extern "C" int handled;
int handled;
extern "C" const int type_info_vftable __asm__("??_7type_info@@6B@");
extern "C" const int type_info_vftable = 0;
struct Guard {
	int *p;
	explicit Guard(int *q) : p(q) {}
	~Guard() { *p += 1; may_throw(0); }
};
extern "C" __declspec(dllexport) int catcher(int x) {
	int local = x;
	try {
		Guard g(&local);
		may_throw(x);
	} catch (int code) {
		handled = code;
		return 2;
	} catch (...) {
		handled = -1;
	}
	return local;
}
extern "C" int __stdcall entry(void *, unsigned, void *) { return catcher(3); }
