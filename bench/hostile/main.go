// Command hostile writes the capture of an attack to standard output:
//
//	go run ./bench/hostile syns 1000000 > syns.pcap
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/tracetest/hostile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		for _, a := range hostile.Attacks() {
			fmt.Printf("%-10s %9d  %s\n", a.Name, a.Size, a.Makes)
		}
		return nil
	}
	a, ok := hostile.Find(args[0])
	if !ok {
		return fmt.Errorf("no attack %q", args[0])
	}
	n := a.Size
	if len(args) > 1 {
		var err error
		if n, err = strconv.Atoi(args[1]); err != nil {
			return err
		}
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	w, err := pcapng.NewWriter(out, pcapng.WriterOptions{Link: pcapng.LinkType(packet.LinkEthernet), Nano: true})
	if err != nil {
		return err
	}
	a.Frames(n, func(f *capture.Frame) {
		if err == nil {
			err = w.WritePacket(f)
		}
	})
	if err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return out.Flush()
}
