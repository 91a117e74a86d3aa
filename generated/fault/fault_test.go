package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/catalog"
	"rea/generated/fault"
	"rea/generated/model"
)

func TestMessages(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fault.ProcedureNotFound(fault.ProcedureNotFoundDetails{Selector: "a\x1b[0m\"b"}, nil), `no procedure matches "a\x1b[0m\"b"`},
		{fault.AddressNotMapped(fault.AddressNotMappedDetails{Address: 0x401000}, nil), `nothing is mapped at 0x401000`},
		{fault.TargetUnavailable(fault.TargetUnavailableDetails{Path: "/a b", Reason: "it is a directory"}, nil), `cannot open "/a b": it is a directory`},
		{fault.ProviderTimeout(fault.ProviderTimeoutDetails{ProviderID: "ghidra", TimeoutMs: 5}, nil), `engine ghidra did not answer within 5 ms`},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestJSON(t *testing.T) {
	cause := context.DeadlineExceeded
	err := fmt.Errorf("resolving: %w", fault.ProcedureNotFound(fault.ProcedureNotFoundDetails{Selector: "x",
		Nearest: []model.SymbolRef{}}, cause))
	if fault.CodeOf(err) != fault.ProcedureNotFoundCode || !errors.Is(err, cause) || fault.CodeOf(cause) != "" {
		t.Errorf("code %q of %v", fault.CodeOf(err), err)
	}
	var e *fault.Error
	if !errors.As(err, &e) {
		t.Fatal("no fault in the chain")
	}
	var got any
	if err := json.Unmarshal(e.JSON(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"error": map[string]any{
		"code": "procedure_not_found", "category": "invalid_input", "message": `no procedure matches "x"`, "retryable": false,
		"remediation": map[string]any{"action": e.Remediation.Action, "restart_required": false},
		"details":     map[string]any{"selector": "x", "nearest": []any{}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCodes_are_those_of_the_catalog(t *testing.T) {
	var want []fault.Code
	for _, f := range catalog.Faults() {
		want = append(want, fault.Code(f.Code))
	}
	if diff := cmp.Diff(want, fault.Codes()); diff != "" || !slices.IsSorted(want) {
		t.Errorf("(-catalog +codes):\n%s", diff)
	}
}
