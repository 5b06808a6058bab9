package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	utilexec "k8s.io/utils/exec"
)

// resettable is a connection that may be reset instead of closed, once what was written has left: a
// reset drops the rest.
type resettable struct {
	*net.TCPConn
	reset atomic.Bool
}

func (c *resettable) Close() error {
	if c.reset.Load() {
		time.Sleep(100 * time.Millisecond)
		_ = c.SetLinger(0)
	}
	return c.TCPConn.Close()
}

// resettableListener accepts connections that may be reset.
type resettableListener struct {
	net.Listener
}

func (l resettableListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &resettable{TCPConn: accepted.(*net.TCPConn)}, nil
}

// misbehave is what `exec POD -- fault NAME` does to the connection of its streams.
func misbehave(name string, out io.Writer, connection *resettable) error {
	if _, err := io.WriteString(out, "before\n"); err != nil {
		return err
	}
	switch name {
	case "reset": // In mid-stream, without a word.
		connection.reset.Store(true)
		return connection.Close()
	case "reset-after-status": // Instead of an end in order.
		connection.reset.Store(true)
		return utilexec.CodeExitError{Err: errors.New("exit status 7"), Code: 7}
	case "no-status": // ServeExec closes the streams as it is left.
		panic(http.ErrAbortHandler)
	}
	return fmt.Errorf("there is no fault %q", name)
}

// withFaults answers requests for some containers otherwise than by switching protocols.
func withFaults(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.PathValue("container") {
		case "answers-500":
			http.Error(w, "the runtime is not ready", http.StatusInternalServerError)
		case "answers-200":
			_, _ = io.WriteString(w, "no streams here")
		case "half-a-head":
			answerAndClose(w, "HTTP/1.1 101 Switching Pro")
		case "nothing":
			answerAndClose(w, "")
		default:
			serve(w, r)
		}
	}
}

// answerAndClose writes bytes in a response's place and ends the connection.
func answerAndClose(w http.ResponseWriter, text string) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(connection, text)
	_ = connection.Close()
}
