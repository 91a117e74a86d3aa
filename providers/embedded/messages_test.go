package embedded_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/runtime/engine"
)

const messages = `
typedef struct objc_class *Class; typedef struct objc_object { Class isa; } *id; typedef struct objc_selector *SEL; typedef signed char BOOL; typedef unsigned long NSUInteger;
__attribute__((objc_root_class)) @interface Root { Class isa; }
+ (id)alloc; - (id)init; + (id)new; - (void)release;
@end
@implementation Root
+ (id)alloc { return (id)0; } - (id)init { return self; } + (id)new { return [[self alloc] init]; } - (void)release {}
@end
@protocol Drawable
- (int)draw:(int)depth;
@optional - (void)hide;
@end
@interface Shape : Root <Drawable> { int side; id next; }
@property int side;
- (int)area; + (Shape *)square:(int)side; - (int)total;
@end
@interface Circle : Shape
- (int)area;
@end
@interface Root (Extra)
- (int)extra:(int)n;
@end
@interface External : Root
+ (id)shared; - (int)count;
@end
int sink;
@implementation Shape
@synthesize side;
- (int)draw:(int)depth { return depth + [self area]; }
- (int)area { return side * side; }
- (int)total { return [self area] + [self extra:3]; }
+ (Shape *)square:(int)n { Shape *s = [[Shape alloc] init]; [s setSide:n]; return s; }
@end
@implementation Circle
- (int)area { return [super area] * 3; }
@end
@implementation Root (Extra)
- (int)extra:(int)n { return n + 1; }
@end
int use(id<Drawable> d) { return [d draw:7]; }
int start(int n) {
  Shape *s = [Shape square:n];
  Circle *c = [Circle new];
  id e = [External shared];
  sink = [e count];
  return [s area] + [c area] + [c draw:2] + use(s) + [s extra:1];
}
`

// libobjc names what the program takes from the Objective-C runtime.
const libobjc = `--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '/usr/lib/libobjc.A.dylib'
exports:
  - targets: [ x86_64-macos, arm64-macos ]
    symbols: [ _objc_msgSend, _objc_msgSendSuper2, __objc_empty_cache, _objc_alloc, _objc_alloc_init, _objc_opt_new, _objc_release, _objc_retain, _objc_setProperty, _objc_getProperty, dyld_stub_binder ]
    objc-classes: [ External ]
...
`

// throughStubs sends messages as newer compilers do, through stubs that the
// linker makes.
const throughStubs = `
.text
.globl _stubbed
.p2align 2
_stubbed:
  stp x29, x30, [sp, #-16]!
  mov w2, #4
  adrp x0, _OBJC_CLASS_$_Shape@PAGE
  add x0, x0, _OBJC_CLASS_$_Shape@PAGEOFF
  bl "_objc_msgSend$square:"
  bl "_objc_msgSend$area"
  ldp x29, x30, [sp], #16
  ret
.subsections_via_symbols
`

func TestTargetsOfMessages(t *testing.T) {
	for _, arch := range []string{"x86_64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			dir := t.TempDir()
			run := func(name string, args ...string) {
				t.Helper()
				cmd := exec.Command(name, args...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Skipf("%s: %v\n%s", name, err, out)
				}
			}
			for name, text := range map[string]string{"a.m": messages, "objc.tbd": libobjc, "stubs.s": throughStubs} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			objects := []string{"a.o"}
			if arch == "arm64" { // the linker fails on x86-64 with them
				objects = append(objects, "-objc_relative_method_lists")
			}
			run("clang", "-target", arch+"-apple-macos13", "-fobjc-runtime=macosx-13", "-O1", "-c", "-o", "a.o", "a.m")
			if arch == "arm64" {
				run("clang", "-target", arch+"-apple-macos13", "-c", "-o", "stubs.o", "stubs.s")
				objects = append(objects, "stubs.o")
			}
			run("ld64.lld-19", append([]string{"-arch", arch, "-platform_version", "macos", "13.0", "13.0", "-o", "program", "-e", "_start", "objc.tbd"}, objects...)...)
			eng := open(t, filepath.Join(dir, "program"))
			for _, tt := range []struct {
				procedure string
				sends     []string // "[=~] implementations": resolved, candidates
			}{
				{"-[Shape draw:]", []string{"~ -[Circle area] -[Shape area]"}},
				{"-[Shape total]", []string{"~ -[Circle area] -[Shape area]", "~ -[Root(Extra) extra:]"}},
				{"+[Shape square:]", []string{"~ -[Shape setSide:]"}},
				{"-[Circle area]", []string{"= -[Shape area]"}},
				{"_use", []string{"~ -[Shape draw:]"}},
				{"_start", []string{"= +[Shape square:]", "= +[Root new]", "= _objc_msgSend", "= _objc_msgSend", "~ -[Circle area] -[Shape area]", "~ -[Circle area]", "~ -[Shape draw:]",
					"~ -[Shape draw:]", "~ -[Root(Extra) extra:]"}},
				{"_stubbed", []string{"= +[Shape square:]", "~ -[Circle area] -[Shape area]"}},
			} {
				if tt.procedure == "_stubbed" && arch != "arm64" {
					continue
				}
				p, err := eng.Resolve(t.Context(), tt.procedure)
				if err != nil {
					t.Fatal(err)
				}
				b, err := eng.Body(t.Context(), p.Address, engine.Targets)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, row := range b.Targets {
					if row.Method != model.CallTargetMethodMessageSend {
						continue
					}
					var names []string
					for _, to := range row.Targets {
						names = append(names, *to.Name)
					}
					slices.Sort(names)
					got = append(got, map[model.CallTargetState]string{"resolved": "= ", "candidates": "~ "}[row.State]+strings.Join(names, " "))
				}
				if !slices.Equal(got, tt.sends) {
					t.Errorf("%s sends\n%q, want\n%q", tt.procedure, got, tt.sends)
				}
			}
		})
	}
}
