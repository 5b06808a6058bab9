// A kubelet of k8s.io/cri-streaming that runs commands as processes of this machine, as kwok does, but
// with exit codes and the end of stdin, and that misbehaves when told to.
//
// usage: scripted-kubelet -listen ADDRESS -folder FOLDER -web ADDRESS
//
// Commands run in the folder. Port 7 of its pods echoes, port 9 refuses, the others lead to -web. What
// the container attached to prints is what it is sent. Faults are in faults.go.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

const (
	idleTimeout     = time.Hour
	creationTimeout = 30 * time.Second
	echoPort        = 7
	refusedPort     = 9
)

type kubelet struct {
	folder string
	web    string
}

// The key of a request's connection in its context.
type connectionKey struct{}

func (k *kubelet) serveExec(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, k, r.PathValue("pod"), "", r.PathValue("container"), r.URL.Query()["command"],
		options, idleTimeout, creationTimeout, remotecommand.SupportedStreamingProtocols)
}

func (k *kubelet) serveAttach(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeAttach(w, r, k, r.PathValue("pod"), "", r.PathValue("container"),
		options, idleTimeout, creationTimeout, remotecommand.SupportedStreamingProtocols)
}

func (k *kubelet) servePortForward(w http.ResponseWriter, r *http.Request) {
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, k, r.PathValue("pod"), "", options, idleTimeout, creationTimeout,
		portforward.SupportedProtocols)
}

func (k *kubelet) ExecInContainer(ctx context.Context, _, _, _ string, command []string, in io.Reader,
	out, errOut io.WriteCloser, tty bool, sizes <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if command[0] == "fault" {
		connection := ctx.Value(connectionKey{}).(*tls.Conn).NetConn().(*resettable)
		return misbehave(command[1], out, connection)
	}
	if tty {
		return runInTerminal(ctx, k.folder, command, in, out, sizes)
	}
	return run(ctx, k.folder, command, in, out, errOut)
}

func (k *kubelet) AttachContainer(_ context.Context, _, _, _ string, in io.Reader, out, _ io.WriteCloser,
	_ bool, _ <-chan remotecommand.TerminalSize) error {
	if _, err := io.WriteString(out, "attached\n"); err != nil {
		return err
	}
	if in == nil {
		return nil
	}
	_, err := io.Copy(out, in)
	return err
}

func (k *kubelet) PortForward(ctx context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	switch port {
	case echoPort:
		_, err := io.Copy(stream, stream)
		return err
	case refusedPort:
		return errors.New("nothing listens here")
	}
	dialed, err := (&net.Dialer{}).DialContext(ctx, "tcp", k.web)
	if err != nil {
		return fmt.Errorf("dialing: %w", err)
	}
	defer dialed.Close()
	go func() {
		_, _ = io.Copy(dialed, stream)
		_ = dialed.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(stream, dialed)
	return err
}

func main() {
	listen := flag.String("listen", "127.0.0.1:10250", "the `address` to serve on")
	k := &kubelet{}
	flag.StringVar(&k.folder, "folder", ".", "where commands run")
	flag.StringVar(&k.web, "web", "", "the `address` behind the ports of pods")
	flag.Parse()
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", withFaults(k.serveExec))
	mux.HandleFunc("/attach/{namespace}/{pod}/{container}", withFaults(k.serveAttach))
	mux.HandleFunc("/portForward/{namespace}/{pod}", k.servePortForward)
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewUnstartedServer(mux)
	server.Listener = resettableListener{listener}
	server.Config.ConnContext = func(ctx context.Context, connection net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, connection)
	}
	// For its certificate, which clients are not expected to verify.
	server.StartTLS()
	select {}
}
