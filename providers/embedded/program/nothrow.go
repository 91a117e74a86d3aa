package program

import (
	"strings"

	"rea/providers/embedded/isa"
)

// Calls that cannot throw: a call-site table covers ranges of code, and with
// the calls that may throw others between them, which end no block.

// neverThrowNames are functions of the C and C++ libraries that are declared
// not to throw, as far as C++ programs call them.
var neverThrowNames = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`
		memcpy memmove memset memcmp memchr memrchr memmem mempcpy __memcpy_chk __memmove_chk __memset_chk bcmp bzero
		strlen strnlen strcmp strncmp strcasecmp strncasecmp strcoll strxfrm strcpy strncpy stpcpy strcat strncat strchr strrchr strstr strpbrk
		strspn strcspn strtok strtok_r strdup strndup strerror strerror_r strsignal wcslen wmemcpy wmemset wmemcmp wmemchr wmemmove wcscmp
		strtol strtoul strtoll strtoull strtod strtof strtold atoi atol atoll atof __isoc23_strtol __isoc23_strtoul __isoc23_strtoll __isoc23_strtoull
		malloc calloc realloc free aligned_alloc posix_memalign abs labs llabs div ldiv rand srand random srandom
		__errno_location __error _errno getenv setenv unsetenv getpid getppid getuid geteuid getgid getegid getcwd chdir rmdir mkdir unlink
		rename remove link symlink readlink stat lstat fstat fstatat access chmod isatty dup dup2 pipe sysconf getpagesize mmap munmap
		time gmtime gmtime_r localtime localtime_r mktime difftime clock clock_gettime gettimeofday getrusage getrlimit sched_yield
		sigaction sigemptyset sigfillset sigaddset sigprocmask kill raise getopt getopt_long uname gethostname
		isalnum isalpha isdigit isspace isupper islower isprint ispunct isxdigit tolower toupper __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc
		sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 log log2 log10 log1p expm1 pow sqrt cbrt hypot floor ceil round trunc fmod
		sinf cosf tanf expf logf powf sqrtf floorf ceilf roundf truncf fmodf lround llround nearbyint rint frexp ldexp modf
		pthread_self pthread_equal pthread_mutex_lock pthread_mutex_unlock pthread_mutex_trylock pthread_mutex_init pthread_mutex_destroy
		pthread_cond_signal pthread_cond_broadcast pthread_cond_init pthread_cond_destroy pthread_key_create pthread_getspecific pthread_setspecific
		sprintf snprintf sscanf feof ferror fileno clearerr setlocale localeconv newlocale freelocale uselocale
		__cxa_begin_catch __cxa_get_exception_ptr __cxa_allocate_exception __cxa_free_exception __cxa_guard_release __cxa_guard_abort
		__cxa_atexit __cxa_get_globals __dynamic_cast __clang_call_terminate
		_ZdlPv _ZdaPv _ZdlPvm _ZdaPvm _ZdlPvSt11align_val_t _ZdlPvmSt11align_val_t _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZdlPvRKSt9nothrow_t
		_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base _ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base
		_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base _ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base
		_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_ _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_
		_ZNSt8__detail15_List_node_base7_M_hookEPS0_ _ZNSt8__detail15_List_node_base9_M_unhookEv _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_
		_ZSt9terminatev _ZSt17current_exceptionv _ZSt18uncaught_exceptionv _ZSt19uncaught_exceptionsv
		_ZNSt9exceptionD1Ev _ZNSt9exceptionD2Ev _ZNSt13runtime_errorD1Ev _ZNSt11logic_errorD1Ev _ZNSt6localeC1Ev _ZNSt6localeC1ERKS_ _ZNSt6localeD1Ev
		_ZNSt8ios_baseC2Ev _ZNSt8ios_baseD2Ev _ZNSaIcEC1Ev _ZNSaIcED1Ev _ZNSaIcEC2Ev _ZNSaIcED2Ev _ZNSaIcEC1ERKS_
		_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1Ev
		_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1EOS4_ _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEaSEOS4_
		_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5clearEv
		_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEED1Ev _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEED1Ev
		_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEED1Ev _ZNSt14basic_ifstreamIcSt11char_traitsIcEED1Ev _ZNSt14basic_ofstreamIcSt11char_traitsIcEED1Ev
	`) {
		m[n] = true
	}
	return m
}()

// neverThrows judges the name of an import.
func neverThrows(name string) bool {
	name, _, _ = strings.Cut(name, "@")
	return neverThrowNames[name] || len(name) > 1 && name[0] == '_' && neverThrowNames[name[1:]]
}

// importThrows judges import i, -1 being one that is not known.
func (r *recovery) importThrows(i int32) bool {
	return i < 0 || !neverThrows(r.im.Imports[i].Name)
}

// mayThrow says whether the call at off may throw, as far as the compiler of its
// caller knew: of functions of other objects it knows only what is declared.
func (r *recovery) mayThrow(off uint32) bool {
	switch r.d.kind(off) {
	case kindCall:
		t := r.d.target(off)
		switch {
		case t == none:
			return r.importThrows(r.stubImport(r.farTarget(off)))
		case r.stubs.has(t):
			return r.importThrows(r.stubImport(r.sp.addr(t)))
		}
	case kindIndCall:
		var in isa.Inst
		r.decode(off, &in)
		if in.HasMem && in.Mem.Index == isa.NoReg && (in.Mem.Base == isa.PC || in.Mem.Base == isa.NoReg) {
			i, ok := r.slots[r.wrap(in.Mem.Disp)]
			return !ok || r.importThrows(i)
		}
	}
	return true
}
