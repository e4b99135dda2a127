package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// Rping is one end of the protocol of rping, the program of librdmacm. In each round the
// client advertises octets that the server reads, then memory into which the server writes
// them back; Sends of 16 octets pass between them.
type Rping struct {
	// Size of what is transferred in a round, in octets, and Rounds of a client.
	Size, Rounds int
	// Round is told of each round that is over, if not nil.
	Round func(n int, data []byte)

	data, sink []byte
	regions    [2]rnic.Region // of data and sink
}

const (
	// RpingBuffers is how many receive buffers an end needs.
	RpingBuffers = 8
	// RpingBuffer is their size in octets.
	RpingBuffer = 64
	// maxRping is how many octets a server reads at most in a round.
	maxRping = 1 << 20
)

// Setup registers the memory; it is the Setup of the options of the peer.
func (r *Rping) Setup(e *rnic.Endpoint) {
	n := r.Size
	if n == 0 {
		n = maxRping
	}
	r.data, r.sink = make([]byte, n), make([]byte, n)
	r.regions[0] = e.Register(rnic.Region{Memory: r.data, Read: true, Write: true})
	r.regions[1] = e.Register(rnic.Region{Memory: r.sink, Read: true, Write: true})
	e.Start()
}

// Client does the rounds, and compares what comes back.
func (r *Rping) Client(ctx context.Context, p *Peer) error {
	for n := range r.Rounds {
		p.Do(func(*rnic.Endpoint) { r.fill(n) })
		for i, region := range r.regions {
			adv := Region{STag: region.STag, TO: region.TO, Size: uint64(len(r.data))}
			if err := p.send(ctx, fmt.Sprintf("advertise%d", i+1), n+1, adv.AppendRping(nil)); err != nil {
				return err
			}
			if _, err := p.sixteen(ctx); err != nil {
				return err
			}
		}
		var err error
		var data []byte
		p.Do(func(*rnic.Endpoint) {
			data = bytes.Clone(r.sink)
			if !bytes.Equal(r.data, r.sink) {
				err = fmt.Errorf("round %d: other octets came back", n+1)
			}
			clear(r.sink)
		})
		if err != nil {
			return err
		}
		if r.Round != nil {
			r.Round(n+1, data)
		}
	}
	return nil
}

// fill makes the text of a round, as rping does.
func (r *Rping) fill(n int) {
	const first, last = 'A', 'z'
	at := copy(r.data, fmt.Sprintf("rdma-ping-%d: ", n))
	c := first + n%(last-first+1)
	for i := at; i < len(r.data); i++ {
		r.data[i] = byte(c)
		if c++; c > last {
			c = first
		}
	}
	if len(r.data) > 0 {
		r.data[len(r.data)-1] = 0
	}
}

// Server serves rounds until the client closes.
func (r *Rping) Server(ctx context.Context, p *Peer) error {
	for n := 1; ; n++ {
		from, err := p.sixteen(ctx)
		switch {
		case errors.Is(err, ErrOver):
			return nil
		case err != nil:
			return err
		case from.Size > uint64(len(r.data)):
			return fmt.Errorf("the client asks for %d octets in a round, at most %d are served", from.Size, len(r.data))
		}
		size := int(from.Size) //nolint:gosec // checked above
		if err := p.do(ctx, rnic.Work{
			Op: rnic.OpRead, Name: "read", Number: n, Size: from.Size, Local: r.regions[0].Address,
			Remote: rnic.Address{STag: from.STag, TO: from.TO},
		}); err != nil {
			return err
		}
		if err := p.send(ctx, "go", 2*n-1, make([]byte, rpingLen)); err != nil {
			return err
		}
		to, err := p.sixteen(ctx)
		if err != nil {
			return err
		}
		var data []byte
		p.Do(func(*rnic.Endpoint) { data = bytes.Clone(r.data[:min(size, int(min(to.Size, maxRping)))]) })
		if err := p.do(ctx, rnic.Work{Op: rnic.OpWrite, Name: "write", Number: n, Data: data, Remote: rnic.Address{STag: to.STag, TO: to.TO}}); err != nil {
			return err
		}
		if err := p.send(ctx, "go", 2*n, make([]byte, rpingLen)); err != nil {
			return err
		}
		if r.Round != nil {
			r.Round(n, data)
		}
	}
}

// do posts work and waits until it is done.
func (p *Peer) do(ctx context.Context, w rnic.Work) error {
	p.Do(func(e *rnic.Endpoint) { e.Post(w) })
	return p.Wait(ctx, func(e *rnic.Endpoint) bool { return e.Unfinished(w.Name) == 0 })
}

func (p *Peer) send(ctx context.Context, name string, n int, b []byte) error {
	return p.do(ctx, rnic.Work{Op: rnic.OpSend, Name: name, Number: n, Data: b})
}

// sixteen waits for the next Send, which has to be one of rping.
func (p *Peer) sixteen(ctx context.Context) (Region, error) {
	m, err := p.Receive(ctx)
	if err != nil {
		return Region{}, err
	}
	if m.Opcode == rdmap.OpImmediate || m.Opcode == rdmap.OpImmediateSE || len(m.Payload) != rpingLen {
		return Region{}, fmt.Errorf("a Send of rping has %d octets, this %v has %d", rpingLen, m.Opcode, len(m.Payload))
	}
	return Advertised(LayoutRping, m.Payload)
}
