/* A library that has one of everything the loader reads: exports by name and
 * ordinal, a forwarder, imports, delay imports, a TLS callback, a load
 * configuration with a guard table, structured exception handling. */
typedef unsigned long long u64;
typedef unsigned int u32;
#ifdef _WIN64
typedef u64 uptr;
#else
typedef u32 uptr;
#endif

__declspec(dllimport) int imported_one(int);
__declspec(dllimport) int imported_two(int);
int delayed_one(int);
extern int filter_result;
int filter_result;
int _fltused;

#if defined(__x86_64__) || defined(__aarch64__)
int __C_specific_handler(void *, void *, void *, void *);
static int filter(int code) { return filter_result + code; }
__declspec(dllexport) int guarded(int *p) {
	__try {
		*p = imported_one(*p);
	} __except (filter(*p)) {
		return imported_two(7);
	}
	return 1;
}
__declspec(dllexport) int finally_block(int *p) {
	int r = 0;
	__try {
		r = imported_one(*p);
	} __finally {
		filter_result = r;
	}
	return r;
}
#else
__declspec(dllexport) int guarded(int *p) { return imported_one(*p); }
__declspec(dllexport) int finally_block(int *p) { return imported_two(*p); }
#endif

__declspec(noinline) static int taken(int x) { return imported_two(x) + 3; }
__declspec(noinline) static int taken_too(int x) { return imported_one(x) * 5; }
__declspec(dllexport) int (*const table[])(int) = {taken, taken_too};
__declspec(dllexport) int exported_data = 42;
__declspec(dllexport) int call_table(int i, int x) { return table[i & 1](x) + delayed_one(x); }
int by_ordinal(int x) { return x * 1234567 + exported_data; }
__declspec(dllexport) int leaf(int x) { return x + 1; }

/* What a C runtime would bring. */
void *__stdcall __delayLoadHelper2(void *desc, void **slot) { return (void *)taken; }
u32 _tls_index;
void __stdcall on_attach(void *h, u32 reason, void *r) { filter_result = reason; }
void (__stdcall *const tls_callbacks[])(void *, u32, void *) = {on_attach, 0};
char tls_start, tls_end;
struct { uptr start, end, index, callbacks; u32 zero, flags; } _tls_used = {
	(uptr)&tls_start, (uptr)&tls_end, (uptr)&_tls_index, (uptr)tls_callbacks, 0, 0};
uptr __security_cookie = 0x2b992ddf;
extern char __guard_fids_table, __guard_fids_count, __guard_flags;
int __guard_check_icall_fptr_target(void) { return 0; }
void *__guard_check_icall_fptr = (void *)__guard_check_icall_fptr_target;
void *__guard_dispatch_icall_fptr = (void *)__guard_check_icall_fptr_target;
#ifdef __i386__
extern char __safe_se_handler_table, __safe_se_handler_count;
#endif
const struct {
	u32 size, stamp, version, clear, set, timeout;
	uptr decommit[2], lock, max, threshold;
#ifdef _WIN64
	uptr affinity; u32 heap; 
#else
	u32 heap; uptr affinity;
#endif
	unsigned short csd, load; uptr edit, cookie, se_table, se_count, check, dispatch, fids, nfids;
	uptr guard_flags; /* 32 bits; the 64-bit store ends in the field after it */
#ifdef _WIN64
	u32 integrity[2];
#else
	u32 integrity[3];
#endif
	uptr iat, niat, jumps, njumps;
} _load_config_used = {
	sizeof _load_config_used, 0, 0, 0, 0, 0, {0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, (uptr)&__security_cookie,
#ifdef __i386__
	(uptr)&__safe_se_handler_table, (uptr)&__safe_se_handler_count,
#else
	0, 0,
#endif
	(uptr)&__guard_check_icall_fptr, (uptr)&__guard_dispatch_icall_fptr,
	(uptr)&__guard_fids_table, (uptr)&__guard_fids_count, (uptr)&__guard_flags, {0}, 0, 0, 0, 0};
int __stdcall entry(void *h, u32 reason, void *r) { return call_table(reason, 3) + guarded(&filter_result); }
