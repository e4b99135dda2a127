// Command turnover writes a capture in which many connections are open at once, each exchanges some
// messages, closes, and gives way to a new one, as the traffic of short jobs does. bench/bench.sh
// uses it. With -idle they stay, and hardly say anything: there are keep-alives.
//
// Messages are Sends of 16 to 1,024 octets, both ways, each in one FPDU. Packets come in bursts of 1 to 8
// of one connection. What is sent is legal. The number of DDP segments goes to standard error.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// shape is what the capture is like.
type shape struct {
	open     int    // connections at the same time
	messages int    // of each connection
	all      int    // connections
	minutes  int    // for which they are idle, 0: they are not
	seed     uint64 // of chance
}

func main() {
	var s shape
	flag.IntVar(&s.open, "open", 10_000, "`N` connections are open at once")
	flag.IntVar(&s.messages, "messages", 6, "each exchanges `N` messages")
	flag.IntVar(&s.all, "all", 200_000, "there are `N` connections in all")
	flag.IntVar(&s.minutes, "idle", 0, "the connections stay open for `N` minutes, idle; -all does not matter")
	flag.Uint64Var(&s.seed, "seed", 1, "`N` decides what chance decides")
	name := flag.String("o", "", "the capture to write")
	flag.Parse()
	if err := write(*name, s); err != nil {
		fmt.Fprintln(os.Stderr, "turnover:", err)
		os.Exit(2)
	}
}

func write(name string, s shape) (err error) {
	idle := s.minutes > 0
	switch {
	case idle && s.open > mostIdle:
		return fmt.Errorf("-open takes up to %d with -idle", mostIdle)
	case s.open < 1 || s.open > mostOpen || s.messages < 0 || !idle && (s.all < s.open || s.all > mostConns) || name == "":
		return fmt.Errorf("-open takes up to %d, -all from as many up to %d; -o is needed", mostOpen, mostConns)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := bufio.NewWriterSize(f, 1<<20)
	to := s.write
	if idle {
		to = s.writeIdle
	}
	sent, err := to(b)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "turnover: %d DDP segments\n", sent)
	return b.Flush()
}

// write writes the capture, and returns how many DDP segments there are in it.
func (s *shape) write(to io.Writer) (sent int, err error) {
	w, err := pcapng.NewWriter(to, pcapng.WriterOptions{Format: pcapng.PCAP, Nano: true, Link: pcapng.LinkType(linkEthernet)})
	if err != nil {
		return 0, err
	}
	rnd := rand.New(rand.NewPCG(s.seed, 0))
	conns := make([]conn, s.open)
	for i := range conns {
		conns[i].begin(i, rnd)
	}
	var (
		rec   = pcapng.Record{Link: pcapng.LinkType(linkEthernet), Time: start}
		begun = s.open
		frame []byte
	)
	for len(conns) > 0 {
		i := rnd.IntN(len(conns))
		for range 1 + rnd.IntN(mostBurst) {
			c := &conns[i]
			frame = c.next(frame[:0], s.messages, rnd)
			rec.Data, rec.Time = frame, rec.Time+betweenFrames
			if err := w.WritePacket(&rec); err != nil {
				return sent, err
			}
			if !c.over {
				continue
			}
			if sent += c.said; begun < s.all {
				c.begin(begun, rnd)
				begun++
				break
			}
			conns[i] = conns[len(conns)-1]
			conns = conns[:len(conns)-1]
			break
		}
	}
	return sent, w.Flush()
}
