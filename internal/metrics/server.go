package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"
)

// Limits of the server. Who asks is not trusted: a client that is slow, or many of them, must not
// disturb the capture.
const (
	maxClients = 16
	maxHeader  = 8 << 10
	patience   = 5 * time.Second
	keepAlive  = time.Minute
)

// Build are the labels of iwdissect_build_info.
type Build struct{ Version, Go, Schema string }

// Server serves metrics, and whether the capture works.
type Server struct {
	recorder *Recorder
	listener net.Listener
	http     http.Server
}

// Listen opens the socket at HOST:PORT. Nobody is answered before [Server.Start].
func Listen(addr string, r *Recorder, b Build) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	h, err := r.Handler(b)
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	s := &Server{recorder: r, listener: netutil.LimitListener(l, maxClients)}
	s.http = http.Server{
		Handler: h, MaxHeaderBytes: maxHeader, ReadHeaderTimeout: patience, ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: keepAlive,
		ErrorLog: nil, BaseContext: func(net.Listener) context.Context { return context.Background() },
	}
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Start answers requests, in a goroutine of its own, until [Server.Close]. failed is called if it
// cannot go on.
func (s *Server) Start(failed func(error)) {
	go func() {
		if err := s.http.Serve(s.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			failed(fmt.Errorf("metrics on %s: %w", s.Addr(), err))
		}
	}()
}

// Close ends the server. Requests that are being answered have a moment to end.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	_ = s.listener.Close() // of a server that was never started
}

// Handler answers requests: /metrics, /healthz and /readyz.
func (r *Recorder) Handler(b Build) (http.Handler, error) {
	registry := prometheus.NewRegistry()
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "iwdissect_build_info", Help: "The program; the value is always 1."}, []string{"version", "go", "schema"})
	info.WithLabelValues(b.Version, b.Go, b.Schema).Set(1)
	for _, c := range []prometheus.Collector{r, info, collectors.NewGoCollector()} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxClients, Timeout: patience}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		p := r.latest()
		answer(w, p.alive(), "the capture works", "the capture has not told anything for 30 seconds")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		p := r.latest()
		answer(w, p.alive() && !p.over, "frames are captured", "no frames are captured: the capture has not begun, hangs or is over")
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, true, "iwdissect: /metrics, /healthz, /readyz", "")
	})
	return mux, nil
}

// answer says yes with status 200, or no with 503.
func answer(w http.ResponseWriter, ok bool, yes, no string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	text := yes
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
		text = no
	}
	_, _ = io.WriteString(w, text+"\n") // the client may have gone
}
