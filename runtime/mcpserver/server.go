package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rea/generated/schema"
	"rea/runtime/delivery"
	"rea/runtime/dispatch"
	"rea/runtime/mcpserver/framing"
	"rea/runtime/session"
)

// ServerName is what the server calls itself.
const ServerName = "rea"

// Config is what a server is made of.
type Config struct {
	Dispatcher *dispatch.Dispatcher
	Profile    schema.Profile
	Budget     delivery.Budget // 0 is the default
	Stdio      Stdio
	// Log receives what is not for the client; nil discards it.
	Log *slog.Logger
	// MaxCalls is how many calls run at once; 0 is twice the processors, at least 4.
	MaxCalls int
	// DrainTimeout is how long running calls may go on after the input has ended;
	// 0 is 5 minutes. A client that has gone away is not waited for.
	DrainTimeout time.Duration
}

// stopTimeout bounds the end of a server that is told to stop.
const stopTimeout = 5 * time.Second

// server is the state of one running server.
type server struct {
	config  Config
	session *session.Session
	conn    *conn
	slots   chan struct{}
	list    func() *toolList

	plain memo
}

// Run serves until the input ends and what was asked is answered, or until ctx
// ends, and closes the session. A client that disconnects is no error.
func Run(ctx context.Context, config Config) error {
	s := newServer(config)
	sdk := s.sdk()
	ss, err := sdk.Connect(ctx, s.conn, nil)
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- ss.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		// The end of the connection ends its calls.
		s.conn.Close()
		select {
		case err = <-ended:
		case <-time.After(stopTimeout):
			err = errors.New("calls did not end in time")
		}
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	_, closeErr := s.session.Close(closing, nil)
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, closeErr)
}

func newServer(config Config) *server {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.Budget == 0 {
		config.Budget = delivery.MinBudget
	}
	if config.MaxCalls <= 0 {
		config.MaxCalls = max(4, 2*runtime.GOMAXPROCS(0))
	}
	if config.DrainTimeout <= 0 {
		config.DrainTimeout = 5 * time.Minute
	}
	if config.Stdio.Alive == nil {
		config.Stdio.Alive = func() bool { return true }
	}
	limits := framing.DefaultLimits
	// What can be delivered can be given back, twice in one comparison.
	limits.FrameBytes = int(max(int64(limits.FrameBytes), min(2*int64(config.Budget), 1<<30)))
	s := &server{
		config:  config,
		session: config.Dispatcher.Session(),
		conn:    newConn(config.Stdio.In, config.Stdio.Out, limits, config.DrainTimeout, config.Stdio.Alive),
		slots:   make(chan struct{}, config.MaxCalls),
	}
	s.list = sync.OnceValue(func() *toolList { return newToolList(config.Dispatcher.Specs(), config.Profile) })
	return s
}

// sdk is the SDK's server with everything but the tools, which are not its business.
func (s *server) sdk() *mcp.Server {
	sdk := mcp.NewServer(&mcp.Implementation{
		Name: ServerName, Title: "rea", Version: s.config.Dispatcher.Version(),
	}, &mcp.ServerOptions{
		Instructions:      instructions(s.config.Dispatcher),
		Logger:            slog.New(slog.DiscardHandler),
		CompletionHandler: s.complete,
		Capabilities: &mcp.ServerCapabilities{
			Tools:       &mcp.ToolCapabilities{},
			Prompts:     &mcp.PromptCapabilities{},
			Resources:   &mcp.ResourceCapabilities{},
			Completions: &mcp.CompletionCapabilities{},
		},
	})
	s.addPrompts(sdk)
	sdk.AddResourceTemplate(evidenceTemplate(), s.unreachable)
	sdk.AddReceivingMiddleware(s.receive)
	return sdk
}

// unreachable stands for resources, which receive answers itself.
func (s *server) unreachable(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return nil, mcp.ResourceNotFoundError(req.Params.URI)
}

// receive answers what rea answers itself, and keeps panics from ending the process.
func (s *server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.config.Log.Error("panic", "method", method, "panic", p, "stack", string(debug.Stack()))
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("internal error in %s", method)}
			}
		}()
		switch method {
		case "initialize":
			return s.initialize(ctx, req, func() (mcp.Result, error) { return next(ctx, method, req) })
		case "tools/list":
			return s.listTools(req, func() (mcp.Result, error) { return next(ctx, method, req) })
		case "tools/call":
			return s.callTool(ctx, req.(*mcp.CallToolRequest))
		case "resources/list":
			return s.listResources(req, func() (mcp.Result, error) { return next(ctx, method, req) })
		case "resources/read":
			return s.readResource(req.(*mcp.ReadResourceRequest))
		case "logging/setLevel":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "logging is not offered"}
		}
		return next(ctx, method, req)
	}
}

// initialize records who the client is and what was negotiated, which is not
// always what the client asked for.
func (s *server) initialize(_ context.Context, req mcp.Request, next func() (mcp.Result, error)) (mcp.Result, error) {
	res, err := next()
	if err != nil {
		return nil, err
	}
	if params, ok := req.GetParams().(*mcp.InitializeParams); ok {
		negotiated := params.ProtocolVersion
		if answer, ok := res.(*mcp.InitializeResult); ok {
			negotiated = answer.ProtocolVersion
		}
		s.session.SetClient(clientOf(params.ClientInfo, params.Capabilities, negotiated))
	}
	return res, nil
}

func clientOf(info *mcp.Implementation, caps *mcp.ClientCapabilities, version string) session.Client {
	c := session.Client{Protocol: version}
	if info != nil {
		c.Name, c.Version = info.Name, info.Version
	}
	if caps == nil {
		return c
	}
	//lint:ignore SA1019 clients of older protocol versions still have the feature, and are told so
	c.Features.Roots = caps.RootsV2 != nil
	//lint:ignore SA1019 as above
	c.Features.Sampling = caps.Sampling != nil
	if e := caps.Elicitation; e != nil {
		// A client that names no mode has the form.
		c.Features.ElicitationForm = e.Form != nil || e.URL == nil
		c.Features.ElicitationURL = e.URL != nil
	}
	return c
}

// number is the number of a request, under which the connection knows it.
func number(req mcp.Request) string {
	if extra := req.GetExtra(); extra != nil {
		return extra.Header.Get(numberHeader)
	}
	return ""
}

// invalidParams is the protocol error for parameters that mean nothing.
func invalidParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// SDK names the MCP SDK and its version.
func SDK() (name, version string) {
	const path = "github.com/modelcontextprotocol/go-sdk"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == path {
				return path, dep.Version
			}
		}
	}
	return path, "unknown"
}
