package analysis_test

import (
	"testing"

	"rea/generated/fault"
	"rea/providers/enginetest"
)

func TestCallGraph(t *testing.T) {
	run(t, enginetest.Sample(), []call{
		{name: "two_levels", tool: "get_call_graph", input: `{"procedure":"main"}`,
			want:        `{"root":{"address":"0x401000","name":"main"},"direction":"forward","depth":2,"truncated":false,"omitted_nodes":0,"nodes":[{"procedure":{"address":"0x401000","name":"main"},"kind":"function","depth":0,"expanded":true,"unresolved":0},{"procedure":{"address":"0x401040","name":"sub_401040"},"kind":"function","depth":1,"expanded":true,"unresolved":0},{"procedure":{"address":"0x401100","name":"puts"},"kind":"import_stub","depth":1,"expanded":true,"unresolved":0},{"procedure":{"address":"0x401060","name":"_ZN3foo3barEi"},"kind":"function","depth":2,"expanded":false,"unresolved":1}],"edges":[{"from":"0x401000","to":"0x401040","kind":"call","sites":2},{"from":"0x401000","to":"0x401100","kind":"call","sites":1},{"from":"0x401040","to":"0x401060","kind":"tail_call","sites":1}]}`,
			limitations: []string{"depth: the edges of 1 procedure at depth 2 were not followed", "in the procedures that were read, 1 computed transfer has no known target; there may be more callees"}},
		{name: "whole", tool: "get_call_graph", input: `{"procedure":"main","depth":10}`,
			want:        `{"root":{"address":"0x401000","name":"main"},"direction":"forward","depth":10,"truncated":false,"omitted_nodes":0,"nodes":[{"procedure":{"address":"0x401000","name":"main"},"kind":"function","depth":0,"expanded":true,"unresolved":0},{"procedure":{"address":"0x401040","name":"sub_401040"},"kind":"function","depth":1,"expanded":true,"unresolved":0},{"procedure":{"address":"0x401100","name":"puts"},"kind":"import_stub","depth":1,"expanded":true,"unresolved":0},{"procedure":{"address":"0x401060","name":"_ZN3foo3barEi"},"kind":"function","depth":2,"expanded":true,"unresolved":1}],"edges":[{"from":"0x401000","to":"0x401040","kind":"call","sites":2},{"from":"0x401000","to":"0x401100","kind":"call","sites":1},{"from":"0x401040","to":"0x401060","kind":"tail_call","sites":1},{"from":"0x401060","to":"0x401000","kind":"call","sites":1}]}`,
			limitations: []string{"in the procedures that were read, 1 computed transfer has no known target; there may be more callees"}},
		{name: "backward", tool: "get_call_graph", input: `{"procedure":"puts","direction":"backward","depth":2}`,
			want:        `{"root":{"address":"0x401100","name":"puts"},"direction":"backward","depth":2,"truncated":false,"omitted_nodes":0,"nodes":[{"procedure":{"address":"0x401100","name":"puts"},"kind":"import_stub","depth":0,"expanded":true,"unresolved":0},{"procedure":{"address":"0x401000","name":"main"},"kind":"function","depth":1,"expanded":true,"unresolved":0},{"procedure":{"address":"0x401080","name":"odd\u001b[31m\n"},"kind":"function","depth":1,"expanded":true,"unresolved":0},{"procedure":{"address":"0x401060","name":"_ZN3foo3barEi"},"kind":"function","depth":2,"expanded":false,"unresolved":1}],"edges":[{"from":"0x401000","to":"0x401100","kind":"call","sites":1},{"from":"0x401060","to":"0x401000","kind":"call","sites":1},{"from":"0x401080","to":"0x401100","kind":"call","sites":1}]}`,
			limitations: []string{"depth: the edges of 1 procedure at depth 2 were not followed", "in the whole program, 1 computed transfer has no known target; there may be more callers"}},
		{name: "two_nodes", tool: "get_call_graph", input: `{"procedure":"main","depth":5,"max_nodes":2}`,
			want:        `{"root":{"address":"0x401000","name":"main"},"direction":"forward","depth":5,"truncated":true,"omitted_nodes":2,"nodes":[{"procedure":{"address":"0x401000","name":"main"},"kind":"function","depth":0,"expanded":true,"unresolved":0},{"procedure":{"address":"0x401040","name":"sub_401040"},"kind":"function","depth":1,"expanded":true,"unresolved":0}],"edges":[{"from":"0x401000","to":"0x401040","kind":"call","sites":2}]}`,
			limitations: []string{"max_nodes: 2 reachable procedures left out"}},
		{name: "root_only", tool: "get_call_graph", input: `{"procedure":"main","max_nodes":1}`,
			want:        `{"root":{"address":"0x401000","name":"main"},"direction":"forward","depth":2,"truncated":true,"omitted_nodes":3,"nodes":[{"procedure":{"address":"0x401000","name":"main"},"kind":"function","depth":0,"expanded":true,"unresolved":0}],"edges":[]}`,
			limitations: []string{"max_nodes: 3 reachable procedures left out"}},
		{name: "unknown", tool: "get_call_graph", input: `{"procedure":"nope"}`,
			code: fault.ProcedureNotFoundCode},
	})
}

func TestCallPath(t *testing.T) {
	run(t, enginetest.Sample(), []call{
		{name: "shortest", tool: "trace_call_path", input: `{"start":"main","goal":"foo::bar(int)"}`,
			want: `{"start":{"address":"0x401000","name":"main"},"goal":{"address":"0x401060","name":"_ZN3foo3barEi"},"direction":"forward","goal_status":"reached","path":[{"from":{"address":"0x401000","name":"main"},"to":{"address":"0x401040","name":"sub_401040"},"site":"0x401008","kind":"call"},{"from":{"address":"0x401040","name":"sub_401040"},"to":{"address":"0x401060","name":"_ZN3foo3barEi"},"site":"0x401050","kind":"tail_call"}],"visited":2,"deepest":2,"limits_reached":[],"unresolved_in_visited":0,"frontier":[]}`},
		{name: "to_itself", tool: "trace_call_path", input: `{"start":"main","goal":"main"}`,
			want: `{"start":{"address":"0x401000","name":"main"},"goal":{"address":"0x401000","name":"main"},"direction":"forward","goal_status":"reached","path":[],"visited":0,"deepest":0,"limits_reached":[],"unresolved_in_visited":0,"frontier":[]}`},
		{name: "backward", tool: "trace_call_path", input: `{"start":"foo::bar(int)","goal":"main","direction":"backward"}`,
			want:        `{"start":{"address":"0x401060","name":"_ZN3foo3barEi"},"goal":{"address":"0x401000","name":"main"},"direction":"backward","goal_status":"reached","path":[{"from":{"address":"0x401060","name":"_ZN3foo3barEi"},"to":{"address":"0x401040","name":"sub_401040"},"site":"0x401050","kind":"tail_call"},{"from":{"address":"0x401040","name":"sub_401040"},"to":{"address":"0x401000","name":"main"},"site":"0x401008","kind":"call"}],"visited":2,"deepest":2,"limits_reached":[],"unresolved_in_visited":1,"frontier":[]}`,
			limitations: []string{"in the whole program, 1 computed transfer has no known target; there may be more callers"}},
		{name: "no_path", tool: "trace_call_path", input: `{"start":"main","goal":"odd\u001b[31m\n"}`,
			want:        `{"start":{"address":"0x401000","name":"main"},"goal":{"address":"0x401080","name":"odd\u001b[31m\n"},"direction":"forward","goal_status":"not_reached","path":[],"visited":4,"deepest":2,"limits_reached":[],"unresolved_in_visited":1,"frontier":[]}`,
			limitations: []string{"in the procedures that were read, 1 computed transfer has no known target; there may be more callees"}},
		{name: "too_deep", tool: "trace_call_path", input: `{"start":"main","goal":"foo::bar(int)","max_depth":1}`,
			want:        `{"start":{"address":"0x401000","name":"main"},"goal":{"address":"0x401060","name":"_ZN3foo3barEi"},"direction":"forward","goal_status":"not_reached_within_limits","path":[],"visited":1,"deepest":0,"limits_reached":["max_depth 1"],"unresolved_in_visited":0,"frontier":[{"address":"0x401040","name":"sub_401040"},{"address":"0x401100","name":"puts"}]}`,
			limitations: []string{"the search stopped before the edges of 2 procedures were read"}},
		{name: "too_many", tool: "trace_call_path", input: `{"start":"main","goal":"foo::bar(int)","max_nodes":1}`,
			want:        `{"start":{"address":"0x401000","name":"main"},"goal":{"address":"0x401060","name":"_ZN3foo3barEi"},"direction":"forward","goal_status":"not_reached_within_limits","path":[],"visited":1,"deepest":0,"limits_reached":["max_nodes 1"],"unresolved_in_visited":0,"frontier":[{"address":"0x401040","name":"sub_401040"},{"address":"0x401100","name":"puts"}]}`,
			limitations: []string{"the search stopped before the edges of 2 procedures were read"}},
		{name: "no_goal", tool: "trace_call_path", input: `{"start":"0x401080"}`,
			want: `{"start":{"address":"0x401080","name":"odd\u001b[31m\n"},"goal":null,"direction":"forward","goal_status":"not_requested","path":[],"visited":2,"deepest":1,"limits_reached":[],"unresolved_in_visited":0,"frontier":[]}`},
		{name: "unknown_goal", tool: "trace_call_path", input: `{"start":"main","goal":"nope"}`,
			code: fault.ProcedureNotFoundCode},
	})
}
