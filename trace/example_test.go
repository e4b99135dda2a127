package trace_test

import (
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/trace"
)

// A quantile of latencies is right to a 32nd of its value, however many there are.
func ExampleLatency() {
	var l trace.Latency
	for i := range 1000 {
		l.Add(int64(i) * int64(time.Microsecond))
	}
	fmt.Println(l.Count, "latencies, the longest", time.Duration(l.Max))
	fmt.Println("99 % are below", time.Duration(l.Quantile(0.99)).Round(10*time.Microsecond))
	// Output:
	// 1000 latencies, the longest 999µs
	// 99 % are below 1ms
}
