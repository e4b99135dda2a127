package trace

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLatency_Quantile compares with the exact quantile: a 32nd is the
// precision of the bins.
func TestLatency_Quantile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, top := range []int64{1, 7, 8, 100, 1e6, 1e12, 1 << 62} {
		var l Latency
		var all []int64
		for range 2000 {
			v := rnd.Int64N(top)
			all = append(all, v)
			l.Add(v)
		}
		slices.Sort(all)
		if l.Min != uint64(all[0]) || l.Max != uint64(all[len(all)-1]) || l.Count != 2000 {
			t.Fatalf("min %d max %d count %d", l.Min, l.Max, l.Count)
		}
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
			exact := uint64(all[int(q*2000)-1])
			got := l.Quantile(q)
			if got < exact || float64(got) > float64(exact)*33/32+1 {
				t.Errorf("below %d: quantile %v is %d, exactly %d", top, q, got, exact)
			}
		}
	}
	var l Latency
	l.Add(-5) // clocks may step back
	if l.Min != 0 || l.Max != 0 {
		t.Error("a negative duration counts as none")
	}
}
