package cli

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/live/livetest"
)

// soakTime is how long TestLive_SoakInterface lasts, and soakRate how many connections it opens in
// a second. bench/soak.sh sets them.
func soakTime(t *testing.T) (d time.Duration, rate int) {
	t.Helper()
	d, rate = 3*time.Second, 200
	if v := os.Getenv("IWDISSECT_SOAK"); v != "" {
		var err error
		if d, err = time.ParseDuration(v); err != nil {
			t.Fatal(err)
		}
	}
	if v := os.Getenv("IWDISSECT_SOAK_RATE"); v != "" {
		var err error
		if rate, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	return d, rate
}

// TestLive_SoakInterface captures short connections on an interface, of which every one is settled
// while the capture goes on. Run long enough, it fails if memory grows.
func TestLive_SoakInterface(t *testing.T) {
	d, rate := soakTime(t)
	livetest.Veth(t)
	send := livetest.Sender(t, false)
	var records recordCount
	errs := newOutput()
	o := newLiveOptions(&IOStreams{Out: &records, Err: errs})
	if err := o.check(pflagSet(t, o, []string{"--format", "ndjson", livetest.Near})); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*d+2*time.Minute)
	defer cancel()
	var sent, settled int64
	var samples []uint64
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		if !errs.waitFor(func(s string) bool { return strings.Contains(s, "capturing on") }) {
			return
		}
		g := &shortConnections{left: 1 << 30, probe: func(int) {}}
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		sample := time.NewTicker(max(d/40, time.Second))
		defer sample.Stop()
		for end := time.After(d); ; {
			select {
			case <-end:
				sent = int64(g.number)
				// They settle before the end of the capture, a second after they closed or,
				// on a busy machine, later.
				for range 1500 {
					if settled = records.n.Load(); settled == sent {
						break
					}
					time.Sleep(20 * time.Millisecond)
				}
				return
			case <-sample.C:
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				samples = append(samples, m.HeapAlloc>>10)
			case <-tick.C:
				g.make()
				var p live.Packet
				for len(g.frames) > 0 {
					if ok, err := g.Next(&p, 0); !ok || err != nil {
						t.Error(err)
						return
					}
					send(p.Data)
				}
			}
		}
	}()
	if err := o.record(ctx, o.view); err != nil {
		t.Fatal(err)
	}
	<-done
	t.Logf("%d connections in %v, %d settled before the end; KiB in use: %v; %s", sent, d, settled, samples, strings.TrimSpace(errs.String()))
	if settled != sent || sent == 0 {
		t.Errorf("%d of %d connections were settled before the end", settled, sent)
	}
	if d < time.Minute*2 {
		return // too short to say anything of memory
	}
	half := samples[len(samples)/2:]
	early, late := samples[len(samples)/4], half[len(half)-1]
	if late > early+early/5 {
		t.Errorf("memory grew from %d to %d KiB", early, late)
	}
}
