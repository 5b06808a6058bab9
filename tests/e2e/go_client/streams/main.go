// Runs commands in a pod and forwards a port with client-go's executors, over WebSockets and over SPDY.
//
// usage: KUBECONFIG=FILE streams POD CONTAINER ECHO_PORT
//
// Exits 1 and names each failed check; prints how many there were.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
)

// Nothing waits this long where the server is right.
const patience = 30 * time.Second

const stdinBytes = 4 << 20

type checks struct{ done, failed int }

func (c *checks) check(holds bool, what string, got any) {
	c.done++
	if !holds {
		c.failed++
		fmt.Printf("FAILED: client-go: %s\n  got: %v\n", what, got)
	}
}

// One pod, and how its executors are made.
type pod struct {
	config    *rest.Config
	core      rest.Interface
	name      string
	container string
	transport string
	executor  func(config *rest.Config, request *rest.Request) (remotecommand.Executor, error)
}

func overWebSockets(config *rest.Config, request *rest.Request) (remotecommand.Executor, error) {
	return remotecommand.NewWebSocketExecutor(config, "GET", request.URL().String())
}

func overSPDY(config *rest.Config, request *rest.Request) (remotecommand.Executor, error) {
	return remotecommand.NewSPDYExecutor(config, "POST", request.URL())
}

func overEither(config *rest.Config, request *rest.Request) (remotecommand.Executor, error) {
	first, err := overWebSockets(config, request)
	if err != nil {
		return nil, err
	}
	second, err := overSPDY(config, request)
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(first, second, httpstream.IsUpgradeFailure)
}

// The error of a command that gets `streams`.
func (p *pod) run(streams remotecommand.StreamOptions, command ...string) error {
	request := p.core.Post().Resource("pods").Name(p.name).Namespace("default").SubResource("exec").
		VersionedParams(&v1.PodExecOptions{Container: p.container, Command: command, Stdin: streams.Stdin != nil,
			Stdout: streams.Stdout != nil, Stderr: streams.Stderr != nil, TTY: streams.Tty}, scheme.ParameterCodec)
	executor, err := p.executor(p.config, request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return executor.StreamWithContext(ctx, streams)
}

func codeOf(err error) int {
	var exit exec.CodeExitError
	if err == nil {
		return 0
	} else if errors.As(err, &exit) {
		return exit.Code
	}
	return -1
}

func (p *pod) commands(c *checks) {
	for _, code := range []int{0, 1, 137} {
		var out, errs bytes.Buffer
		err := p.run(remotecommand.StreamOptions{Stdout: &out, Stderr: &errs}, "sh", "-c",
			"echo out; echo err >&2; exit "+strconv.Itoa(code))
		got := fmt.Sprintf("%q %q %v", out.String(), errs.String(), err)
		c.check(out.String() == "out\n" && errs.String() == "err\n" && codeOf(err) == code,
			p.transport+": outputs and exit code "+strconv.Itoa(code), got)
	}
	text := strings.Repeat("0123456789abcde\n", stdinBytes/16)
	var out bytes.Buffer
	err := p.run(remotecommand.StreamOptions{Stdin: strings.NewReader(text), Stdout: &out}, "sh", "-c", "cat; exit 3")
	c.check(codeOf(err) == 3 && out.String() == text, p.transport+": stdin ends", fmt.Sprint(out.Len(), err))
	err = (&pod{p.config, p.core, "missing", p.container, p.transport, p.executor}).run(
		remotecommand.StreamOptions{Stdout: &out}, "true")
	c.check(err != nil && strings.Contains(err.Error(), `pods "missing" not found`), p.transport+": a missing pod", err)
}

// Sizes that are told one after the other; the last goes on for as long as the stream.
type sizes struct{ left []remotecommand.TerminalSize }

func (s *sizes) Next() *remotecommand.TerminalSize {
	if len(s.left) == 0 {
		return nil
	}
	next := s.left[0]
	s.left = s.left[1:]
	return &next
}

func (p *pod) terminal(c *checks) {
	var out bytes.Buffer
	stdin, held := io.Pipe()
	defer held.Close()
	err := p.run(remotecommand.StreamOptions{Stdin: stdin, Stdout: &out, Tty: true,
		TerminalSizeQueue: &sizes{[]remotecommand.TerminalSize{{Width: 77, Height: 33}}}},
		"sh", "-c", `until [ "$(stty size)" = "33 77" ]; do sleep 0.1; done; stty size`)
	c.check(err == nil && out.String() == "33 77\r\n", p.transport+": a terminal and its size",
		fmt.Sprintf("%q %v", out.String(), err))
}

func (p *pod) forwards(c *checks, dialer httpstream.Dialer, port int) {
	stop, ready := make(chan struct{}), make(chan struct{})
	defer close(stop)
	forwarder, err := portforward.New(dialer, []string{"0:" + strconv.Itoa(port)}, stop, ready, io.Discard, os.Stderr)
	if err != nil {
		c.check(false, p.transport+": port-forward", err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-ended:
		c.check(false, p.transport+": port-forward begins", err)
		return
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		c.check(false, p.transport+": ports", err)
		return
	}
	answer := make([]byte, 4)
	connection, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(int(ports[0].Local)))
	if err == nil {
		defer connection.Close()
		_ = connection.SetDeadline(time.Now().Add(patience))
		if _, err = connection.Write([]byte("ping")); err == nil {
			_, err = io.ReadFull(connection, answer)
		}
	}
	c.check(err == nil && string(answer) == "ping", p.transport+": what an echo answers", fmt.Sprintf("%q %v", answer, err))
}

func (p *pod) dialer(websockets bool) (httpstream.Dialer, error) {
	url := p.core.Post().Resource("pods").Name(p.name).Namespace("default").SubResource("portforward").URL()
	if websockets {
		return portforward.NewSPDYOverWebsocketDialer(url, p.config)
	}
	transport, upgrader, err := spdy.RoundTripperFor(p.config)
	if err != nil {
		return nil, err
	}
	return spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", url), nil
}

func try(c *checks) error {
	port, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	one := pod{config: config, core: clients.CoreV1().RESTClient(), name: os.Args[1], container: os.Args[2]}
	for transport, executor := range map[string]func(*rest.Config, *rest.Request) (remotecommand.Executor, error){
		"WebSocket": overWebSockets, "SPDY": overSPDY, "either": overEither} {
		one.transport, one.executor = transport, executor
		one.commands(c)
		one.terminal(c)
	}
	for _, websockets := range []bool{true, false} {
		one.transport = map[bool]string{true: "WebSocket", false: "SPDY"}[websockets]
		dialer, err := one.dialer(websockets)
		if err != nil {
			return err
		}
		one.forwards(c, dialer, port)
	}
	return nil
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: KUBECONFIG=FILE streams POD CONTAINER ECHO_PORT")
		os.Exit(2)
	}
	c := &checks{}
	if err := try(c); err != nil {
		c.check(false, "to begin", err)
	}
	fmt.Printf("client-go streams: %d checks, %d failed\n", c.done, c.failed)
	if c.failed > 0 {
		os.Exit(1)
	}
}
