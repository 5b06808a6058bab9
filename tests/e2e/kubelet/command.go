package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// exitCode makes of a process's end what ServeExec tells: 128 and the signal's number, as shells do.
func exitCode(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	code := exit.ExitCode()
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return utilexec.CodeExitError{Err: fmt.Errorf("exit status %d", code), Code: code}
}

// run runs a command, whose stdin ends when `in` does. It returns when its outputs have been written.
func run(ctx context.Context, folder string, command []string, in io.Reader, out, errOut io.Writer) error {
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	process.Dir, process.Stdout, process.Stderr = folder, out, errOut
	if in != nil {
		stdin, err := process.StdinPipe()
		if err != nil {
			return err
		}
		// Not process.Stdin: a command may end before its stdin does.
		go func() {
			_, _ = io.Copy(stdin, in)
			_ = stdin.Close()
		}()
	}
	return exitCode(process.Run())
}

// runInTerminal runs a command in a terminal that has the sizes it is told, and returns when all that it
// printed has been written.
func runInTerminal(ctx context.Context, folder string, command []string, in io.Reader, out io.Writer,
	sizes <-chan remotecommand.TerminalSize) error {
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	process.Dir = folder
	terminal, err := pty.Start(process)
	if err != nil {
		return err
	}
	defer terminal.Close()
	go func() {
		for size := range sizes {
			_ = pty.Setsize(terminal, &pty.Winsize{Rows: size.Height, Cols: size.Width})
		}
	}()
	if in != nil {
		go func() { _, _ = io.Copy(terminal, in) }()
	}
	// Ends with EIO when the last process has closed the terminal.
	_, _ = io.Copy(out, terminal)
	return exitCode(process.Wait())
}
