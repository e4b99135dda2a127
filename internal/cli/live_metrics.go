package cli

import (
	"net"
	"runtime"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/metrics"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
)

// aboutListen explains --listen, in the help.
const aboutListen = `--listen HOST:PORT serves /metrics in the format of Prometheus (packets, drops, FPDUs by
CRC, findings by rule, response times), and /healthz and /readyz for whoever supervises
the process. Anybody who reaches the port may read them: there is no password and no TLS.
`

// publishEvery is how often metrics are renewed.
const publishEvery = time.Second / 2

// liveMetrics are the metrics of a live capture, and the server that tells them. nil: none
// are wanted.
type liveMetrics struct {
	*metrics.Recorder
	addr   string
	server *metrics.Server
	at     time.Time // when they were published last
}

func newLiveMetrics(addr string) *liveMetrics {
	if addr == "" {
		return nil
	}
	return &liveMetrics{Recorder: metrics.New(), addr: addr}
}

// checkListen refuses what is no address to listen on.
func checkListen(addr string, given bool) error {
	if !given {
		return nil
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return usagef("--listen takes HOST:PORT, such as 127.0.0.1:9478, not %q", addr)
	}
	if _, err := net.LookupPort("tcp", port); err != nil { // a name of a service is one, too
		return usagef("--listen takes HOST:PORT, such as 127.0.0.1:9478, and %q is no port", port)
	}
	return nil
}

// open opens the socket. The sandbox, which comes later, lets no other be opened.
func (m *liveMetrics) open() (err error) {
	if m == nil {
		return nil
	}
	m.server, err = metrics.Listen(m.addr, m.Recorder, metrics.Build{Version: Version, Go: runtime.Version(), Schema: render.Schema})
	return err
}

// close ends the server.
func (m *liveMetrics) close() {
	if m != nil && m.server != nil {
		m.End()
		m.server.Close()
	}
}

// beside has the metrics learn of everything that a sink is told.
func (m *liveMetrics) beside(next pipeline.Sink) pipeline.Sink {
	if m == nil {
		return next
	}
	return &tee{first: m.Recorder, next: next}
}

// finding is what is called with each finding, nil if there is no need.
func (m *liveMetrics) finding() func(*conformance.Finding) {
	if m == nil {
		return nil
	}
	return m.Finding
}

// serve starts to answer who asks for metrics.
func (c *session) serve() {
	m := c.metrics
	if m == nil {
		return
	}
	c.publish(time.Now())
	m.server.Start(func(err error) { c.o.s.warn(err) })
	if !c.o.quiet {
		c.tell("metrics on http://%s/metrics", m.server.Addr())
	}
}

// publish renews the metrics, if it is time to.
func (c *session) publish(now time.Time) {
	m := c.metrics
	if m == nil || now.Sub(m.at) < publishEvery {
		return
	}
	m.at = now
	s := metrics.State{
		Totals: c.run.Totals(), Tracked: c.run.Tracked(), Memory: c.memory.Used(), Now: c.o.clock().UnixNano(), Latest: c.latest,
	}
	kernel, err := c.h.Stats()
	s.Kernel, s.HasKernel = kernel, err == nil
	m.Publish(s)
}
