package display

import "testing"

// Filters of two terms, as people type them.
var typical = []string{
	"tcp.port == 7200 && tcp.len > 0",
	"iwarp_rdma.opcode == 0x7 && ip.addr == 10.0.0.0/8",
	`iwarp_rdma.opcode == "Write" && iwd.latency > 1ms`,
	"eth.src == 8e:a5:c2:93:c5:4e or ip.src != 10.1.0.2",
	"iwarp_ddp.stag in {1, 3..5} or tcp.len & 8",
	`ip.src[0:2] == 0a:01 and frame.protocols contains "iwarp"`,
}

// TestAllocations: matching does not allocate.
func TestAllocations(t *testing.T) {
	for _, text := range append(typical,
		`frame.protocols matches "iwarp" and tcp.payload matches r"\xe9"`, "upper(frame.protocols) == \"A\" or string(tcp.port) == \"1\"",
		"ip.src[0,2-3] == 0a:00:01 and max(tcp.port, 3) > tcp.len", "{tcp.len + 1} * 2 == 82 and -tcp.len < 0", "abs(tcp.len - 50) == 10 and len(tcp) > 2",
		"all tcp.port in {1 .. 50000} and eth.addr & ff:ff:ff:00:00:00", "tcp xor count(tcp.port) == 2",
	) {
		f, err := Compile(text, find, names)
		if err != nil {
			t.Fatal(err)
		}
		row := write().row(f)
		f.Match(row)
		if n := testing.AllocsPerRun(100, func() { f.Match(row) }); n > 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, text := range typical {
		b.Run(text, func(b *testing.B) {
			f, err := Compile(text, find, names)
			if err != nil {
				b.Fatal(err)
			}
			row := write().row(f)
			b.ReportAllocs()
			for b.Loop() {
				f.Match(row)
			}
		})
	}
}
