package cli

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"

	"rea/catalog"
	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/schema"
	"rea/generated/tool"
	"rea/providers/analysis"
	"rea/providers/artifacts"
	"rea/providers/binary"
	"rea/providers/embedded"
	evidencefamily "rea/providers/evidence"
	"rea/providers/ghidra"
	"rea/providers/hopper"
	"rea/providers/javascript"
	"rea/providers/native"
	sessionfamily "rea/providers/session"
	"rea/runtime/delivery"
	"rea/runtime/dispatch"
	"rea/runtime/engine"
	"rea/runtime/evidence"
	"rea/runtime/mcpserver"
	"rea/runtime/query"
	"rea/runtime/session"
)

// engines is the list of analysis engines, found by the settings of getenv.
func engines(getenv func(string) string) []engine.Provider {
	pkg, _ := catalog.Built()
	own := embedded.Provider{Version: pkg.Version}
	return []engine.Provider{
		own,
		ghidra.Provider{Getenv: getenv, File: own},
		hopper.Provider{Getenv: getenv, File: own},
	}
}

// checkEngines refuses settings of engines that cannot be read, whether or not
// the engine will be used.
func checkEngines(getenv func(string) string) error {
	return errors.Join(checkEngine(getenv, ghidra.ID), checkEngine(getenv, hopper.ID))
}

// checkEngine is checkEngines for one of them.
func checkEngine(getenv func(string) string, id string) error {
	switch id {
	case ghidra.ID:
		return ghidra.Validate(getenv)
	case hopper.ID:
		return hopper.Validate(getenv)
	}
	return nil
}

// choiceSetting names the environment variable that chooses an engine.
const choiceSetting = "REA_ANALYSIS_PROVIDER"

// engineChoices are what an engine can be chosen by.
var engineChoices = []string{engine.Auto, engine.DefaultID, ghidra.ID, hopper.ID}

// engineFlag adds --provider to fs. Like the setting, it takes nothing but the
// name of an engine.
func engineFlag(fs *flag.FlagSet, value *string, usage string) {
	fs.Var(choice{value, engineChoices}, "provider", usage)
}

// checkChoice refuses wishes for an engine that does not exist, before anything
// is opened.
func checkChoice(getenv func(string) string, flag string) error {
	for _, wish := range []struct{ name, value string }{
		{choiceSetting, getenv(choiceSetting)}, {"--provider", flag},
	} {
		if wish.value != "" && !slices.Contains(engineChoices, wish.value) {
			return fault.ConfigurationInvalid(fault.ConfigurationInvalidDetails{
				Name: wish.name, Value: wish.value, Expected: "one of " + strings.Join(engineChoices, ", "),
			}, nil)
		}
	}
	return nil
}

// A setup is what the parts of one session are told.
type setup struct {
	getenv   func(string) string
	provider string          // --provider
	shown    []string        // families; nil for all
	profile  schema.Profile  // of advertised inputs
	budget   delivery.Budget // of replies; 0 for none
	log      io.Writer
	single   bool // one call, then the session ends
}

// level is what is logged. A command prints its own diagnostic, and beside it
// only what that can't hold: the stack of a panic.
func (s *setup) level() slog.Level {
	if s.single {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// families makes the handlers of every family of tools.
func families(s setup, sess *session.Session, availability func(context.Context) []model.ToolAvailability) tool.Families {
	source := query.Source(session.Source)
	return tool.Families{
		Analysis:   analysis.New(source),
		Artifacts:  artifacts.New(),
		Binary:     binary.New(session.Target),
		Evidence:   evidencefamily.New(evidencefamily.Config{Session: sess, Budget: int64(s.budget)}),
		Javascript: javascript.New(),
		Native:     native.New(source),
		Session: sessionfamily.New(sessionfamily.Config{
			Session:      sess,
			Availability: availability,
			Identity:     identity(s.profile),
			Families:     s.shown,
			HowToShow:    dispatch.ShowHint,
		}),
	}
}

// identity of this program, as binary_session reports it.
func identity(profile schema.Profile) sessionfamily.Identity {
	pkg, _ := catalog.Built()
	sdk, sdkVersion := mcpserver.SDK()
	path, err := os.Executable()
	if err != nil {
		path = ""
	}
	return sessionfamily.Identity{
		Package: pkg.Name, Version: pkg.Version,
		Server: mcpserver.ServerName, ServerPath: path,
		SDK: sdk, SDKVersion: sdkVersion,
		InputSchemaProfile: profile.String(),
		CatalogDigest:      catalog.Digest,
	}
}

// assemble makes a session and the dispatcher of its calls; done releases both.
func assemble(s setup) (d *dispatch.Dispatcher, done func()) {
	pkg, _ := catalog.Built()
	memory := int64(evidence.DefaultMemory)
	if s.single {
		memory = math.MaxInt64 // the one record is there until it is written out
	}
	sess := session.New(session.Config{
		Providers:   engines(s.getenv),
		Recognize:   recognize,
		Version:     pkg.Version,
		Ledger:      evidence.NewLedger("", memory),
		Environment: s.getenv(choiceSetting),
		Flag:        s.provider,
	})
	availability := func(ctx context.Context) []model.ToolAvailability { return d.Availability(ctx) }
	d = dispatch.New(dispatch.Config{
		Session:  sess,
		Bindings: tool.Bindings(families(s, sess, availability)),
		Version:  pkg.Version,
		Families: s.shown,

		Ephemeral: s.single,
		Viewed:    evidencefamily.Viewed(),

		Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: s.level()})),
	})
	return d, func() { sess.Close(context.Background(), nil) }
}

// A connection is the session of one command.
type connection struct {
	dispatcher *dispatch.Dispatcher
	call       caller
	close      func()
}

// connect makes the session of one command. A snapshot, unless nil, is read
// where the target is opened.
func (a *app) connect(provider string, snapshot *snapshotFlags) *connection {
	invalid := errors.Join(checkEngines(a.getenv), checkChoice(a.getenv, provider))
	d, done := assemble(setup{getenv: a.getenv, provider: provider, log: a.err, single: true})
	call := func(ctx context.Context, name string, input []byte) ([]byte, error) {
		if invalid != nil {
			return nil, invalid
		}
		out, err := d.Call(ctx, name, input)
		if err != nil {
			return nil, err
		}
		return out.Document, nil
	}
	if snapshot != nil {
		call = snapshot.opening(call)
	}
	return &connection{dispatcher: d, call: call, close: done}
}
