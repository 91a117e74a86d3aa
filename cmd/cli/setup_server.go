package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"rea/cmd/setup/client"
	"rea/providers/ghidra"
	"rea/providers/hopper"
	"rea/runtime/engine"
)

// engineSettings are the variables that lead to an engine that is installed
// apart. Clients start servers without the environment of a shell, so setup
// writes them into the registration.
var engineSettings = map[string][]string{
	"ghidra": {ghidra.InstallSetting, ghidra.JavaSetting},
	"hopper": {hopper.LauncherSetting},
}

// thisServer is what clients shall start: the running program, or command.
func (a *app) thisServer(ctx context.Context, command string) (client.Server, error) {
	s := client.Server{Command: command, Args: []string{"mcp"}}
	if command == "" {
		program, err := runningProgram()
		if err != nil {
			return s, err
		}
		s.Command = program
	} else if info, err := os.Stat(command); !filepath.IsAbs(command) || err != nil || !info.Mode().IsRegular() {
		return s, usagef("", "--command needs the absolute path of a program; %q is none", command)
	}
	for _, c := range engine.Candidates(ctx, engines(a.getenv), nil, "") {
		if c.Availability.Reason != nil {
			continue
		}
		for _, name := range engineSettings[c.Provider.ID] {
			if v := a.getenv(name); v != "" {
				s.Env = append(s.Env, client.Variable{Name: name, Value: v})
			}
		}
	}
	return s, nil
}

// runningProgram is the path under which this program is found again: that on
// PATH where it leads here, because an update keeps it, else the file itself.
func runningProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	if temporary(self) {
		return "", usagef("Build it to a place where it stays: go build -o ~/bin/rea ./cmd/rea. Or name a program with --command.",
			"this program was made by go run and is gone when it ends")
	}
	this, err := os.Stat(self)
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	if onPath, err := exec.LookPath("rea"); err == nil || errors.Is(err, exec.ErrDot) {
		if abs, err := filepath.Abs(onPath); err == nil {
			if other, err := os.Stat(abs); err == nil && os.SameFile(this, other) {
				return abs, nil
			}
		}
	}
	return self, nil
}

// temporary tells whether go run built a program.
func temporary(path string) bool {
	return strings.Contains(filepath.ToSlash(path), "/go-build") && strings.Contains(filepath.ToSlash(path), "/exe/")
}
