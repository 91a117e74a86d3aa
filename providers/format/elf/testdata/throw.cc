// Two functions with landing pads; build.sh has the commands.
extern "C" void may_throw(int);
extern "C" void destroyed(void *);
struct guard {
	int n;
	~guard() { destroyed(this); }
};
int caught(int n)
{
	try {
		guard g{n};
		may_throw(n);
	} catch (int e) {
		return e;
	} catch (...) {
		return -1;
	}
	return 0;
}
void cleaned(int n)
{
	guard a{n}, b{n + 1};
	may_throw(n);
	may_throw(n + 1);
}
