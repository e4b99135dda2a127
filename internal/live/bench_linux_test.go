package live

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iwdissect/iwdissect/internal/live/livetest"
)

// BenchmarkCapture measures the reader against a sender that never rests. The
// time is that of the slower of the two; cpu-ns/packet is the reader's own.
func BenchmarkCapture(b *testing.B) {
	for _, size := range []int{64, 1514, 9014} {
		b.Run(map[int]string{64: "small", 1514: "mtu1500", 9014: "mtu9000"}[size], func(b *testing.B) {
			newVeth(b)
			h := open(b, Options{Interface: nearEnd})
			send := livetest.Sender(b, true)
			frame := ether(ipv4(6, 0, 0, transport(1, 2, size-14-20-20)), 0x0800)
			b.SetBytes(int64(size))
			var p Packet
			n := b.N
			cpu := threadTime(b)
			b.ResetTimer()
			go func() {
				runtime.LockOSThread()
				for range n {
					send(frame)
				}
			}()
			got := 0
			for got < n {
				ok, err := h.Next(&p, 500*time.Millisecond)
				if err != nil {
					b.Fatal(err)
				}
				if !ok {
					break // the rest was dropped
				}
				got++
			}
			b.StopTimer()
			cpu = threadTime(b) - cpu
			s, _ := h.Stats()
			b.ReportMetric(float64(cpu.Nanoseconds())/float64(max(got, 1)), "cpu-ns/packet")
			b.ReportMetric(float64(s.Dropped), "drops")
			b.ReportMetric(float64(got)/b.Elapsed().Seconds(), "packets/s")
		})
	}
}

// threadTime returns the processor time of this thread.
func threadTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
