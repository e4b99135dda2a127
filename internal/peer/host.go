package peer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
)

// EncapsulationPort is the UDP port of SCTP over UDP (RFC 6951).
const EncapsulationPort = 9899

const (
	// udpHead is the size of what stands before SCTP in UDP, in octets.
	udpHead = 8
	// initSize is the size of the INIT packet that this side sends: at least that of the answer.
	initSize = 96
	// mostAssociations bounds those of a socket, mostWaiting the clients whose turn has not
	// come, and the associations of a client that nobody has asked for.
	mostAssociations, mostWaiting = 1024, 16
	// mostEnded bounds how many ended associations are remembered, for as long as their
	// cookies are valid.
	mostEnded = 4096
)

// Host is a UDP socket with the SCTP associations over it. To a stranger it never sends more
// octets than came from there, and it keeps nothing of one that has not shown that it gets
// what is sent to its address.
type Host struct {
	conn *net.UDPConn
	to   netip.AddrPort // where the socket is connected to, if it is
	key  [sha256Size]byte
	// config says how the association with a client is set up that uses an SCTP port.
	config func(port uint16) assoc.Config
	gone   chan struct{} // the reader has ended

	mu      sync.Mutex // for what follows; that of an association is never taken under it
	byTag   map[uint32]*Association
	ended   map[uint32]grave
	clients map[netip.AddrPort]*Client
	waiting chan *Client
}

const sha256Size = 32

// grave is what is left of an association: who repeats its last words is answered.
type grave struct {
	caller
	peerTag uint32
	until   time.Time
}

// Listen waits for associations on a socket, which it owns from now on.
func Listen(conn *net.UDPConn, config func(port uint16) assoc.Config) *Host {
	h := &Host{conn: conn, config: config, waiting: make(chan *Client, mostWaiting)}
	h.begin()
	return h
}

// DialHost is a socket for associations with one address.
func DialHost(ctx context.Context, to netip.AddrPort) (*Host, error) {
	c, err := new(net.Dialer).DialContext(ctx, "udp", to.String())
	if err != nil {
		return nil, err
	}
	conn, ok := c.(*net.UDPConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a socket of UDP is a %T", c), c.Close())
	}
	h := &Host{conn: conn, to: plainAddr(to)}
	h.begin()
	return h, nil
}

func (h *Host) begin() {
	_, _ = rand.Read(h.key[:]) // it never fails
	h.byTag, h.ended, h.clients = map[uint32]*Association{}, map[uint32]grave{}, map[netip.AddrPort]*Client{}
	h.gone = make(chan struct{})
	go h.readAll()
}

// Close closes the socket. Associations that are not over fail.
func (h *Host) Close() error {
	err := h.conn.Close()
	<-h.gone
	return err
}

// Addr is the address of the socket.
func (h *Host) Addr() net.Addr { return h.conn.LocalAddr() }

// Dial returns an association with the address of the host, which [Association.Start] begins.
func (h *Host) Dial(c assoc.Config) (*Association, error) {
	c.Active, c.PadInit = true, initSize
	for {
		c.Tag = newTag()
		a := newAssociation(h, h.to, c)
		a.sock = assoc.New(a.cfg)
		h.mu.Lock()
		taken := h.byTag[c.Tag] != nil
		if !taken {
			h.byTag[c.Tag] = a
		}
		h.mu.Unlock()
		if !taken {
			return a, nil
		}
	}
}

// plainAddr is an address as it is compared.
func plainAddr(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// write sends a datagram. One that is lost here is sent again like one that is lost elsewhere.
func (h *Host) write(b []byte, to netip.AddrPort) error {
	if h.to.IsValid() {
		_, err := h.conn.Write(b)
		return err
	}
	_, err := h.conn.WriteToUDPAddrPort(b, to)
	return err
}

// readAll reads until the socket is closed.
func (h *Host) readAll() {
	defer close(h.gone)
	b := make([]byte, 1<<16)
	for {
		n, from, err := h.conn.ReadFromUDPAddrPort(b)
		if err == nil {
			h.receive(b[:n], plainAddr(from))
			continue
		}
		// What the system says of a datagram that was sent tells whose it was on a connected
		// socket alone.
		if h.to.IsValid() || errors.Is(err, net.ErrClosed) {
			for _, a := range h.all() {
				a.refused(err)
			}
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func (h *Host) all() (all []*Association) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.byTag {
		all = append(all, a)
	}
	return all
}

// receive takes a datagram: only what has the right checksum, and the tag of an association
// on the address where it came from, or begins one.
func (h *Host) receive(b []byte, from netip.AddrPort) {
	head, err := sctp.DecodeHeader(b)
	if err != nil || head.SrcPort == 0 || head.DstPort == 0 {
		return
	}
	c := caller{from, head.SrcPort, head.DstPort, head.Tag}
	now := time.Now()
	h.mu.Lock()
	a := h.byTag[head.Tag]
	g, buried := h.ended[head.Tag]
	h.mu.Unlock()
	good := sctp.Check(b, len(b)) == sctp.Good
	if a != nil {
		if a.is(c) {
			a.receive(b, good)
		}
		return
	}
	first, n, err := sctp.Next(b[sctp.HeaderLen:], len(b)-sctp.HeaderLen)
	if err != nil || !good {
		return
	}
	switch {
	case buried:
		if g.caller == c {
			h.answerDead(&g, first.Type)
		}
	case h.config == nil:
	case head.Tag == 0 && first.Type == sctp.TypeInit && n == len(b)-sctp.HeaderLen:
		h.answerInit(first, c, len(b), now)
	case first.Type == sctp.TypeCookieEcho:
		h.admit(first.Value, c, b, now)
	}
}

// answerInit answers an INIT with a cookie, and keeps nothing.
func (h *Host) answerInit(chunk sctp.Chunk, c caller, size int, now time.Time) {
	i, err := sctp.DecodeInit(chunk)
	if err != nil || i.Tag == 0 || i.Out == 0 || i.In == 0 {
		return
	}
	c.tag = newTag()
	own := h.passive(c)
	if answer := assoc.Answer(own, &i, h.cookie(&i, c, now)); len(answer) <= size {
		_ = h.write(answer, c.from)
	}
}

// passive is how the association with a caller is set up.
func (h *Host) passive(c caller) assoc.Config {
	own := h.config(c.srcPort)
	own.Active, own.Tag, own.SrcPort, own.DstPort = false, c.tag, c.dstPort, c.srcPort
	return own
}

// admit takes a client whose cookie came back.
func (h *Host) admit(cookie []byte, c caller, packet []byte, now time.Time) {
	i, ok := h.brought(cookie, c, now)
	if !ok {
		return
	}
	a := newAssociation(h, c.from, h.passive(c))
	a.sock = assoc.Accept(a.cfg, &i)
	a.handshake(&i, cookie, packet)
	h.mu.Lock()
	var old []*Association
	for _, x := range h.byTag {
		if x.remote == c.from && x.cfg.SrcPort == c.dstPort && x.cfg.DstPort == c.srcPort {
			old = append(old, x) // the client has begun anew (RFC 9260 section 5.2)
		}
	}
	if len(h.byTag) < mostAssociations && h.queue(a) {
		h.byTag[c.tag] = a
	} else {
		old = nil // it will ask again
	}
	h.mu.Unlock()
	for _, x := range old {
		x.replaced()
	}
}

// queue hands an association to its client, and a new client to Accept. The lock is held.
func (h *Host) queue(a *Association) bool {
	client := h.clients[a.remote]
	if client == nil {
		client = &Client{host: h, Remote: a.remote, changed: make(chan struct{})}
		select {
		case h.waiting <- client:
			h.clients[a.remote] = client
		default:
			return false
		}
	}
	if len(client.came) >= mostWaiting {
		return false
	}
	client.came = append(client.came, a)
	close(client.changed)
	client.changed = make(chan struct{})
	return true
}

// forget removes an association that is over.
func (h *Host) forget(a *Association) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.byTag, a.cfg.Tag)
	if len(h.ended) >= mostEnded {
		for tag, g := range h.ended {
			if now.After(g.until) || len(h.ended) >= mostEnded {
				delete(h.ended, tag)
			}
		}
	}
	h.ended[a.cfg.Tag] = grave{caller{a.remote, a.cfg.DstPort, a.cfg.SrcPort, a.cfg.Tag}, a.sock.PeerTag(), now.Add(cookieLife)}
}

// answerDead answers for an association that is over (RFC 9260 section 8.4): the peer has
// missed the end. The answer is never longer than what came.
func (h *Host) answerDead(g *grave, t sctp.Type) {
	const reflected = 1
	c := sctp.New(sctp.TypeAbort, reflected, nil)
	tag := g.tag
	switch t {
	case sctp.TypeAbort, sctp.TypeShutdownComplete, sctp.TypeCookieEcho, sctp.TypeCookieAck, sctp.TypeError:
		return
	case sctp.TypeShutdownAck:
		c.Type = sctp.TypeShutdownComplete
	default:
	}
	b := c.Append(sctp.Header{SrcPort: g.dstPort, DstPort: g.srcPort, Tag: tag}.Append(nil))
	sctp.Seal(b)
	_ = h.write(b, g.from)
}

// Client is an address from which associations come.
type Client struct {
	Remote netip.AddrPort
	host   *Host
	// Under the lock of the host: the associations that nobody has asked for, and what is
	// closed when there is another one.
	came    []*Association
	changed chan struct{}
}

// Accept returns the next client.
func (h *Host) Accept(ctx context.Context) (*Client, error) {
	select {
	case c := <-h.waiting:
		return c, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-h.gone:
		return nil, net.ErrClosed
	}
}

// Next returns the next association from an SCTP port of the client, 0 for any, which
// [Association.Start] begins.
func (c *Client) Next(ctx context.Context, port uint16) (*Association, error) {
	for {
		a, changed := c.next(port)
		if a != nil {
			return a, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-c.host.gone:
			return nil, net.ErrClosed
		}
	}
}

// next returns an association that is there, or what is closed when there is another one.
func (c *Client) next(port uint16) (*Association, <-chan struct{}) {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	for i, a := range c.came {
		if port == 0 || a.cfg.DstPort == port {
			c.came = slices.Delete(c.came, i, i+1)
			return a, nil
		}
	}
	return nil, c.changed
}

// Close forgets the client, and associations of it that were not asked for.
func (c *Client) Close() {
	h := c.host
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c.Remote)
	for _, a := range c.came {
		delete(h.byTag, a.cfg.Tag)
	}
	c.came = nil
}
