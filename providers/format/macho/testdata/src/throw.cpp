// Functions with exception tables.
extern "C" int imported_one(int);
extern "C" int handled;
int handled;
struct Guard {
	int *p;
	~Guard() { *p += imported_one(0); }
};
extern "C" int catcher(int x) {
	int local = x;
	try {
		Guard g{&local};
		if (imported_one(x))
			throw x;
	} catch (int code) {
		handled = code;
		return 2;
	} catch (...) {
		handled = -1;
	}
	return local;
}
extern "C" int main() { return catcher(3); }
