package main

import (
	"io"
	"math/rand/v2"
	"time"

	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/reassembly"
)

const (
	// keepAlive is after how long a side asks whether the other one is still there.
	keepAlive = int64(time.Minute)
	// roundTrip is when the answer comes, answering how long an application takes.
	roundTrip = int64(50 * time.Microsecond)
	// rarely: of so many minutes a connection has something to say in one.
	rarely = 16
	// mostIdle connections have time to begin in the first minute, one after the other.
	mostIdle = 1 << 16
)

// writeIdle writes a capture of connections that are open for some minutes and hardly say
// anything: each begins in the first minute, exchanges its messages, and then is asked each minute whether
// it is still there, or has a message instead.
func (s *shape) writeIdle(to io.Writer) (sent int, err error) {
	w, err := pcapng.NewWriter(to, pcapng.WriterOptions{Format: pcapng.PCAP, Nano: true, Link: pcapng.LinkType(linkEthernet)})
	if err != nil {
		return 0, err
	}
	rnd := rand.New(rand.NewPCG(s.seed, 0))
	conns := make([]conn, s.open)
	rec := pcapng.Record{Link: pcapng.LinkType(linkEthernet)}
	var frame []byte
	for minute := range s.minutes {
		for i := range conns {
			c := &conns[i]
			rec.Time = start + int64(minute)*keepAlive + int64(i)*keepAlive/int64(len(conns))
			if minute == 0 {
				c.begin(i, rnd)
			}
			for more := true; more; {
				frame, more = c.idle(frame[:0], s.messages, rnd)
				rec.Data, rec.Time = frame, rec.Time+roundTrip
				if err := w.WritePacket(&rec); err != nil {
					return sent, err
				}
			}
		}
	}
	for i := range conns {
		sent += conns[i].said
	}
	return sent, w.Flush()
}

// idle appends the next frame of a connection that stays open. more: others follow at once.
func (c *conn) idle(dst []byte, messages int, rnd *rand.Rand) (frame []byte, more bool) {
	const ack, push = reassembly.FlagACK, reassembly.FlagPSH
	switch {
	case c.stage < talk, c.said < messages:
		frame = c.next(dst, messages, rnd)
		c.owes, c.asks = true, (c.said+1)%2 // the reply, or the last message
		return frame, true
	case c.owes:
		c.owes = false
		return c.frame(dst, 1-c.asks, ack, nil), false
	}
	c.owes, c.asks = true, rnd.IntN(2)
	if rnd.IntN(rarely) == 0 {
		c.said++
		return c.frame(dst, c.asks, ack|push, c.send(c.asks, rnd)), true
	}
	return c.probe(dst, c.asks), true
}

// probe appends a keep-alive: an octet before those that are next, or none (RFC 9293 section 3.8.4),
// as the stack of the side does it.
func (c *conn) probe(dst []byte, side int) []byte {
	octets := (int(c.port) + side) % 2
	seq := c.seq[side]
	c.seq[side]--
	dst = c.frame(dst, side, reassembly.FlagACK, make([]byte, octets))
	c.seq[side], c.twice = seq, octets > 0
	return dst
}
