package program

import (
	"iter"
	"slices"
	"strings"

	"rea/providers/embedded/isa"
)

// No-return inference: imports that end the program are known by name; a
// function none of whose paths returns, when the calls already known not to
// return are taken as ends, does not return either; its callers are then
// walked again, until nothing changes. A call right before another function's
// entry, or before padding up to it, does not return either. (The greatest fixed point: functions
// are taken to return until every path is seen to end otherwise.)

// noReturnNames are functions of the C, C++ and system libraries, and of
// language runtimes, that never return to their caller.
var noReturnNames = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`
		exit _exit _Exit quick_exit abort __assert_fail __assert __assert_rtn __assert2 __assert_c99 __assert_perror_fail
		__assert13 _assert _wassert __stack_chk_fail __stack_chk_fail_local __fortify_fail __chk_fail __stack_smash_handler
		longjmp _longjmp siglongjmp __longjmp_chk longjmp_chk
		err errx verr verrx errc verrc err_exit
		pthread_exit thrd_exit __pthread_unwind_next __libc_start_main_exit
		__cxa_throw __cxa_rethrow __cxa_bad_cast __cxa_bad_typeid __cxa_throw_bad_array_new_length
		__cxa_throw_bad_array_length __cxa_pure_virtual __cxa_deleted_virtual __cxa_call_unexpected __cxa_call_terminate
		__clang_call_terminate _Unwind_Resume _Unwind_SjLj_Resume
		_ZSt9terminatev _ZSt10unexpectedv _ZSt17__throw_bad_allocv _ZSt16__throw_bad_castv _ZSt18__throw_bad_typeidv
		_ZSt19__throw_logic_errorPKc _ZSt20__throw_domain_errorPKc _ZSt20__throw_length_errorPKc _ZSt20__throw_out_of_rangePKc
		_ZSt24__throw_out_of_range_fmtPKcz _ZSt24__throw_invalid_argumentPKc _ZSt19__throw_range_errorPKc
		_ZSt20__throw_overflow_errorPKc _ZSt21__throw_runtime_errorPKc _ZSt21__throw_underflow_errorPKc
		_ZSt21__throw_bad_exceptionv _ZSt25__throw_bad_function_callv _ZSt19__throw_ios_failurePKc _ZSt20__throw_system_errori
		_ZSt20__throw_future_errori _ZSt19__throw_regex_errorNSt15regex_constants10error_typeE
		_ZSt28__throw_bad_array_new_lengthv _ZSt26__throw_bad_variant_accessv _ZSt29__throw_bad_variant_accessPKc
		_ZSt27__throw_bad_optional_accessv _ZSt35__throw_bad_variant_accessb __throw_bad_alloc
		_ZN10__cxxabiv111__terminateEPFvvE _ZSt14__glibcxx_failPKciS0_
		rust_begin_unwind __rust_start_panic rust_panic
		ExitProcess ExitThread FatalExit FatalAppExitA FatalAppExitW RaiseFailFastException RtlExitUserProcess RtlExitUserThread
		RtlRaiseStatus FreeLibraryAndExitThread __fastfail _invoke_watson _invalid_parameter_noinfo_noreturn
		_CxxThrowException terminate _cexit_noreturn _amsg_exit _endthread _endthreadex
		KeBugCheck KeBugCheckEx objc_exception_throw objc_exception_rethrow objc_terminate
		_os_crash __abort_with_payload abort_with_reason abort_with_payload _swift_runtime_on_report __swift_reportFatalErrorsInDebugger
		g_assertion_message g_assertion_message_expr g_abort __builtin_unreachable __ubsan_handle_builtin_unreachable
		__ubsan_handle_missing_return __ctype_b_abort svc_exit exit_group __libc_fatal __libc_assert_fail __fdelt_chk_fail
		__posix_assert_fail xalloc_die usage_exit thr_exit _lwp_exit
		runtime.gopanic runtime.goexit runtime.goexit0 runtime.throw runtime.fatalthrow runtime.fatalpanic runtime.exit
		runtime.goPanicIndex runtime.goPanicIndexU runtime.panicIndex runtime.panicIndexU runtime.panicdivide
		runtime.panicshift runtime.panicwrap runtime.panicmem runtime.panicnil runtime.panicdottypeE runtime.panicdottypeI
		runtime.panicnildottype runtime.panicSliceAlen runtime.panicSliceAcap runtime.panicSliceB runtime.panicSlice3Alen
		runtime.panicSlice3Acap runtime.panicSlice3B runtime.panicSlice3C runtime.panicSliceConvert runtime.panicunsafealignment
		runtime.panicmakeslicelen runtime.panicmakeslicecap runtime.panicunsafeslicelen runtime.panicunsafestringlen
		runtime.panicoverflow runtime.panicfloat runtime.panicrangestate runtime.fatal runtime.abort runtime.mcall_noreturn
	`) {
		m[n] = true
	}
	return m
}()

// neverReturns judges a symbol name; Mach-O and 32-bit PE put an underscore in front.
func neverReturns(name string) bool {
	if i := strings.IndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	if noReturnNames[name] {
		return true
	}
	if s, ok := strings.CutPrefix(name, "_"); ok && noReturnNames[s] {
		return true
	}
	// Rust: core::panicking::* and the unwrap/expect failures.
	if strings.HasPrefix(name, "_ZN") || strings.HasPrefix(name, "_R") {
		for _, p := range [...]string{"4core9panicking", "13unwrap_failed17h", "13expect_failed17h", "20slice_end_index_len_fail", "22slice_index_order_fail", "22slice_start_index_len_fail", "18handle_alloc_error17h", "17capacity_overflow17h", "rust_panic", "10rust_begin_unwind", "16panic_in_cleanup", "26panic_bounds_check", "9begin_panic"} {
			if strings.Contains(name, p) && !strings.Contains(name, "$u7b$$u7b$closure") && !strings.Contains(name, "fmt") {
				return true
			}
		}
	}
	return false
}

// resumedNames are functions that save their caller's context and pass control
// to a scheduler, which resumes the caller some other way.
var resumedNames = map[string]bool{"runtime.mcall": true, "runtime.systemstack": true, "runtime.asmcgocall": true, "runtime.gosave_systemstack_switch": true, "runtime.systemstack_switch": true}

// isNoReturn says whether f is newly seen not to return.
func (r *recovery) isNoReturn(f *fn) bool {
	return !f.noReturn && !f.returns && !r.resumed[f.entry] && !r.mayLeave(f) && !r.defers(f)
}

// inferNoReturn marks those of the functions that do not return, and those that
// leave only for such ones, and touches their callers.
func (r *recovery) inferNoReturn(check []*fn) {
	for len(check) > 0 {
		f := check[len(check)-1]
		check = check[:len(check)-1]
		if !r.isNoReturn(f) {
			continue
		}
		f.noReturn = true
		r.noRet.set(f.entry)
		for _, c := range r.callersOf(f.entry) {
			if c.exit {
				check = append(check, c.from)
			} else {
				r.touch(c.from)
			}
		}
	}
}

// deferReturn is the runtime function that a Go function with deferred calls
// ends in, both when it returns and when a deferred call recovers from a panic;
// then no flow of the function leads there.
const deferReturn = "runtime.deferreturn"

// defers says whether f is a Go function that returns when it recovers: code
// of its extent, reached or not, calls deferReturn.
func (r *recovery) defers(f *fn) bool {
	if r.deferReturn == none || !r.goTable.has(f.entry) || f.defers == 1 {
		return false
	}
	if f.defers == 0 {
		f.defers = 1
		var in isa.Inst
		for _, e := range f.extents {
			for a := e.lo; a < e.hi && f.defers == 1; a += max(uint32(in.Len), uint32(r.dec.Align())) {
				if r.decode(a, &in); in.Flow == isa.Call && r.sp.off(in.Target) == r.deferReturn {
					f.defers = 2
				}
			}
		}
	}
	return f.defers == 2
}

// mayLeave says whether f can pass control on to code that may return for it.
func (r *recovery) mayLeave(f *fn) bool {
	if len(f.blocks) == 0 {
		return true
	}
	for ; f.ended < len(f.exits); f.ended++ { // exits judged to return nothing stay so until f is walked again
		e := f.exits[f.ended]
		switch {
		case e.kind == exitFallCall:
		case e.to != none:
			if !r.noRet.has(e.to) {
				return true
			}
		case e.kind == exitLost || len(r.d.noRetPlace) == 0 || !r.d.noRetPlace[r.farTarget(e.from)]:
			return true
		}
	}
	for _, j := range f.indirect {
		if t := r.tables[j]; t == nil || !t.complete {
			return !r.noRetJump(j)
		}
	}
	return false
}

// noRetJump says whether the indirect jump at off goes through the pointer of
// an import that does not return.
func (r *recovery) noRetJump(off uint32) bool {
	var in isa.Inst
	r.decode(off, &in)
	return in.HasMem && in.Mem.Index == isa.NoReg && (in.Mem.Base == isa.PC || in.Mem.Base == isa.NoReg) && r.d.noRetSlots[r.wrap(in.Mem.Disp)]
}

// leastEnds is how many calls must end their functions for the callee to be
// taken not to return.
const leastEnds = 3

// endingCalls marks functions that leave through a computed jump, so that
// nothing in them says whether they return, and nearly all of whose calls stand at
// the stated ends of their callers.
func (r *recovery) endingCalls() (bool, error) {
	found := make([][]uint32, r.shards(len(r.funcs)))
	err := r.eachShard(len(r.funcs), func(_, s, lo, hi int) {
		for _, f := range r.funcs[lo:hi] {
			if len(f.extents) == 0 {
				continue
			}
			for _, e := range f.exits {
				if e.kind != exitFallCall || r.d.kind(e.from) != kindCall {
					continue
				}
				if t := r.d.target(e.from); t != none && r.starts.has(t) && !r.noRet.has(t) {
					found[s] = append(found[s], t)
				}
			}
		}
	})
	if err != nil {
		return false, err
	}
	ends := slices.Concat(found...)
	changed := r.framesFollow()
	for target, n := range counted(ends) {
		f := r.byEntry[target]
		if n < leastEnds || f == nil || f.noReturn || f.returns || r.resumed[f.entry] || len(f.indirect) == 0 {
			continue
		}
		if r.calledMore(f.entry, n*4/3) {
			continue
		}
		calls := 0
		who := r.callersOf(f.entry)
		for _, c := range who {
			if !c.exit {
				calls++
			}
		}
		if calls*3 > n*4 { // code of the function may follow without being run on into
			continue
		}
		f.noReturn, changed = true, true
		r.noRet.set(f.entry)
		for _, c := range who {
			r.touch(c.from)
		}
	}
	return changed, nil
}

// counted yields each of the offsets once, in order, and how often it is listed.
func counted(offs []uint32) iter.Seq2[uint32, int] {
	slices.Sort(offs)
	return func(yield func(uint32, int) bool) {
		for len(offs) > 0 {
			n := 1
			for n < len(offs) && offs[n] == offs[0] {
				n++
			}
			if !yield(offs[0], n) {
				return
			}
			offs = offs[n:]
		}
	}
}

// leastFrames is how many calls must stand before what opens a frame for the
// callee to be taken not to return, and one in how many of all.
const (
	leastFrames       = 4
	framesShare       = 4
	framesShareSilent = 16 // where no return is seen
)

// framesFollow marks functions that pass control on in ways that the flow does
// not show, as those do that unwind the stack: again and again, nothing of the
// caller follows the call but padding and the next function.
func (r *recovery) framesFollow() bool {
	if r.framesAsked++; r.framesAsked&(r.framesAsked-1) != 0 || !r.conv.known {
		return false // more and more rarely: what is known changes less and less
	}
	got := make([][]uint32, len(r.funcs))
	_ = each(r.ctx, r.workers, len(r.funcs), 64, func(_, i int) {
		f := r.funcs[i]
		if len(f.extents) > 0 {
			return
		}
		for _, c := range f.calls {
			next := c.off + r.d.size(c.off)
			if c.target == none || r.noRet.has(c.target) || r.stubs.has(c.target) || next >= r.sp.at(c.off).end() {
				continue
			}
			if t := r.skipPadding(next, r.sp.at(c.off).end()); t-next < 16 && r.sp.addr(t)%16 == 0 && t < r.sp.at(c.off).end() && r.beginsFrame(t) {
				got[i] = append(got[i], c.target)
			}
		}
	})
	ends := slices.Concat(got...)
	changed := false
	for target, n := range counted(ends) {
		f := r.byEntry[target]
		if n < leastFrames || f == nil || f.noReturn || r.resumed[f.entry] {
			continue
		}
		share := framesShare
		if !f.returns { // nothing speaks for it
			share = framesShareSilent
		}
		if r.calledMore(f.entry, n*share) {
			continue
		}
		f.noReturn, changed = true, true
		r.noRet.set(f.entry)
		for _, c := range r.callersOf(f.entry) {
			r.touch(c.from)
		}
	}
	return changed
}

// beginsFrame says whether the code at t begins with what sets up a frame and
// may begin a function.
func (r *recovery) beginsFrame(t uint32) bool {
	var in isa.Inst
	for k, a := 0, t; k < 2; k, a = k+1, a+uint32(in.Len) {
		if a >= r.sp.at(t).end() {
			return false
		}
		r.decode(a, &in)
		if in.Class != isa.EndBranch {
			return r.prologueInst(&in) && !r.continues(t)
		}
	}
	return false
}
