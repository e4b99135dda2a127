package e2e

// expectation is what a capture holds. The numbers come from what was done to
// make the capture and from a count of its FPDUs by other means; where there was
// no such count (mid-*, snap96, the last two), the framer of octets_test.go
// proves them. Gaps are never expected, the last three only where it says so.
type expectation struct {
	name         string
	frames       int
	syns         int // SYNs without ACK, repeated ones too
	conns        int // TCP connections
	plain        int // of them without iWARP
	startups     string
	fpdus        int
	ok, bad      int // CRC verdicts
	off          int // CRC not negotiated
	unverifiable int
	ops          string // DDP segments by opcode
	unanswered   int    // reads that a Terminate or the end of the connection cut off
	unmatched    int    // responses without a request
	unframed     int64  // octets in no FPDU
}

var expectations = []expectation{
	{name: "abort-client-exit.pcap", frames: 42, syns: 1, conns: 1, startups: "accepted 1", fpdus: 16, ok: 16, ops: "Send 1 Write 15"},
	{name: "abort-rst-midtransfer.pcap", frames: 271, syns: 2, conns: 2, startups: "accepted 2", fpdus: 251, ok: 251, ops: "Send 251"},
	{name: "close-client-disc.pcap", frames: 12, syns: 1, conns: 1, startups: "accepted 1", fpdus: 1, ok: 1, ops: "Send 1"},
	{name: "cmtime-20conn-crc.pcap", frames: 200, syns: 20, conns: 20, startups: "accepted 20"},
	{name: "hostfwd-rping.pcap", frames: 64, syns: 2, conns: 2, startups: "accepted 2", fpdus: 35, ok: 35, ops: "Send 20 Write 5 ReadReq 5 ReadResp 5"},
	{name: "lo-probe-p2p-crc.pcap", frames: 65, syns: 1, conns: 1, startups: "accepted 1", fpdus: 25, ok: 25, ops: "Send 8 SendSE 1 Write 4 ReadReq 5 ReadResp 7"},
	{name: "lo-rping-crc.pcap", frames: 90, syns: 1, conns: 1, startups: "accepted 1", fpdus: 70, ok: 70, ops: "Send 40 Write 10 ReadReq 10 ReadResp 10"},
	{name: "mid-send-lat-crc.pcap", frames: 400, syns: 0, conns: 1, startups: "none-seen 1", fpdus: 400, ok: 400, ops: "Send 400"},
	{name: "mid-write-bw-crc.pcap", frames: 500, syns: 0, conns: 1, startups: "none-seen 1", fpdus: 334, ok: 334, ops: "Write 334"},
	{name: "nano-rping-crc.pcap", frames: 50, syns: 1, conns: 1, startups: "accepted 1", fpdus: 35, ok: 35, ops: "Send 20 Write 5 ReadReq 5 ReadResp 5"},
	{name: "nano-rping-crc.pcapng", frames: 50, syns: 1, conns: 1, startups: "accepted 1", fpdus: 35, ok: 35, ops: "Send 20 Write 5 ReadReq 5 ReadResp 5"},
	{name: "net-loss2-reorder-dup-crc.pcap", frames: 2030, syns: 6, conns: 6, startups: "accepted 6", fpdus: 1010, ok: 1010, ops: "Send 386 Write 304 ReadReq 20 ReadResp 300"},
	{name: "net-lossafter3-crc.pcap", frames: 1845, syns: 7, conns: 6, startups: "accepted 6", fpdus: 1010, ok: 1010, ops: "Send 386 Write 304 ReadReq 20 ReadResp 300"},
	{name: "probe-5-connections-p2p.pcap", frames: 119, syns: 5, conns: 5, startups: "accepted 5", fpdus: 45, ok: 45, ops: "Send 10 Write 15 ReadReq 10 ReadResp 10"},
	{name: "probe-allops-p2p-write-crc.pcap", frames: 214, syns: 1, conns: 1, startups: "accepted 1", fpdus: 100, ok: 100, ops: "Send 35 SendSE 4 SendInv 1 Write 19 ReadReq 7 ReadResp 34"},
	{name: "probe-allops-rev1-crc.pcap", frames: 211, syns: 1, conns: 1, startups: "accepted 1", fpdus: 99, ok: 99, ops: "Send 35 SendSE 4 SendInv 1 Write 18 ReadReq 7 ReadResp 34"},
	{name: "probe-allops-rev2-crc.pcap", frames: 209, syns: 1, conns: 1, startups: "accepted 1", fpdus: 99, ok: 99, ops: "Send 35 SendSE 4 SendInv 1 Write 18 ReadReq 7 ReadResp 34"},
	{name: "probe-allops-rev2-nocrc.pcap", frames: 213, syns: 1, conns: 1, startups: "accepted 1", fpdus: 99, off: 99, ops: "Send 35 SendSE 4 SendInv 1 Write 18 ReadReq 7 ReadResp 34"},
	{name: "probe-ipv6-bulk-crc.pcap", frames: 478, syns: 1, conns: 1, startups: "accepted 1", fpdus: 201, ok: 201, ops: "Send 66 Write 66 ReadReq 3 ReadResp 66"},
	{name: "probe-irdord-c0-0-s0-0.pcap", frames: 16, syns: 1, conns: 1, startups: "accepted 1", fpdus: 3, ok: 3, ops: "Send 3"},
	{name: "probe-irdord-c1-8-s32-32.pcap", frames: 90, syns: 1, conns: 1, startups: "accepted 1", fpdus: 48, ok: 48, ops: "ReadReq 16 ReadResp 32"},
	{name: "probe-irdord-p2p-c0-0.pcap", frames: 18, syns: 1, conns: 1, startups: "accepted 1", fpdus: 4, ok: 4, ops: "Send 3 Write 1"},
	{name: "probe-irdord-strict-c16-16-s2-2.pcap", frames: 8, syns: 1, conns: 1, startups: "incomplete 1"},
	{name: "probe-pdata-max.pcap", frames: 12, syns: 1, conns: 1, startups: "accepted 1", fpdus: 1, off: 1, ops: "Send 1"},
	{name: "probe-pdata-none.pcap", frames: 12, syns: 1, conns: 1, startups: "accepted 1", fpdus: 1, off: 1, ops: "Send 1"},
	{name: "probe-read-nonreadable-mr-allowed.pcap", frames: 17, syns: 1, conns: 1, startups: "accepted 1", fpdus: 4, ok: 4, ops: "Send 2 ReadReq 1 ReadResp 1"},
	{name: "probe-read-ord1-serialized.pcap", frames: 28, syns: 1, conns: 1, startups: "accepted 1", fpdus: 16, ok: 16, ops: "ReadReq 8 ReadResp 8"},
	{name: "pt-lat-crc.pcap", frames: 260, syns: 6, conns: 6, startups: "accepted 6", fpdus: 184, ok: 184, ops: "Send 104 Write 40 ReadReq 20 ReadResp 20"},
	{name: "pt-mtu9000-bw-crc.pcap", frames: 409, syns: 6, conns: 6, startups: "accepted 6", fpdus: 194, ok: 194, ops: "Send 118 Write 36 ReadReq 8 ReadResp 32"},
	{name: "pt-read-bw-64k-nocrc.pcap", frames: 815, syns: 2, conns: 2, startups: "accepted 2", fpdus: 267, off: 267, ops: "Send 32 ReadReq 5 ReadResp 230"},
	{name: "pt-read-bw-sizes-crc.pcap", frames: 1364, syns: 8, conns: 8, startups: "accepted 8", fpdus: 568, ok: 568, ops: "Send 128 ReadReq 32 ReadResp 408"},
	{name: "pt-send-bw-64k-nocrc.pcap", frames: 400, syns: 2, conns: 2, startups: "accepted 2", fpdus: 259, off: 259, ops: "Send 257 Write 2"},
	{name: "pt-send-bw-sizes-crc.pcap", frames: 859, syns: 8, conns: 8, startups: "accepted 8", fpdus: 520, ok: 520, ops: "Send 504 Write 16"},
	{name: "pt-send-read-p2p-readrtr-crc.pcap", frames: 193, syns: 4, conns: 4, startups: "accepted 4", fpdus: 122, ok: 122, ops: "Send 78 Write 4 ReadReq 12 ReadResp 28"},
	{name: "pt-trygso-tso-off-crc.pcap", frames: 1219, syns: 4, conns: 4, startups: "accepted 4", fpdus: 92, ok: 92, ops: "Send 64 Write 12 ReadReq 5 ReadResp 11"},
	{name: "pt-tso-gro-on-crc.pcap", frames: 1273, syns: 6, conns: 6, startups: "accepted 6", fpdus: 626, ok: 626, ops: "Send 262 Write 180 ReadReq 8 ReadResp 176"},
	{name: "pt-write-bw-q4-bidir-crc.pcap", frames: 1275, syns: 5, conns: 5, startups: "accepted 5", fpdus: 428, ok: 428, ops: "Send 44 Write 384"},
	{name: "pt-write-bw-sizes-crc.pcap", frames: 868, syns: 8, conns: 8, startups: "accepted 8", fpdus: 536, ok: 536, ops: "Send 128 Write 408"},
	{name: "pt-write-read-rev1-crc.pcap", frames: 411, syns: 4, conns: 4, startups: "accepted 4", fpdus: 200, ok: 200, ops: "Send 64 Write 64 ReadReq 8 ReadResp 64"},
	{name: "rcopy-crc.pcap", frames: 380, syns: 1, conns: 1, startups: "accepted 1", fpdus: 248, ok: 248, ops: "Send 23 Write 225"},
	{name: "rej-app-nopdata.pcap", frames: 11, syns: 1, conns: 1, startups: "rejected 1"},
	{name: "rej-app-p2p.pcap", frames: 10, syns: 1, conns: 1, startups: "rejected 1"},
	{name: "rej-app-pdata.pcap", frames: 10, syns: 1, conns: 1, startups: "rejected 1"},
	{name: "rej-nolistener.pcap", frames: 2, syns: 1, conns: 1, plain: 1},
	{name: "rping-65535-rev2-crc.pcap", frames: 858, syns: 1, conns: 1, startups: "accepted 1", fpdus: 388, ok: 388, ops: "Send 16 Write 184 ReadReq 4 ReadResp 184"},
	{name: "rping-ipv6-crc.pcap", frames: 90, syns: 1, conns: 1, startups: "accepted 1", fpdus: 70, ok: 70, ops: "Send 40 Write 10 ReadReq 10 ReadResp 10"},
	{name: "rping-p2p-both-crc.pcap", frames: 92, syns: 1, conns: 1, startups: "accepted 1", fpdus: 71, ok: 71, ops: "Send 40 Write 11 ReadReq 10 ReadResp 10"},
	{name: "rping-p2p-read-crc.pcap", frames: 92, syns: 1, conns: 1, startups: "accepted 1", fpdus: 72, ok: 72, ops: "Send 40 Write 10 ReadReq 11 ReadResp 11"},
	{name: "rping-p2p-read-nocrc.pcap", frames: 92, syns: 1, conns: 1, startups: "accepted 1", fpdus: 72, off: 72, ops: "Send 40 Write 10 ReadReq 11 ReadResp 11"},
	{name: "rping-p2p-write-crc.pcap", frames: 93, syns: 1, conns: 1, startups: "accepted 1", fpdus: 71, ok: 71, ops: "Send 40 Write 11 ReadReq 10 ReadResp 10"},
	{name: "rping-p2p-write-crc.pcapng", frames: 93, syns: 1, conns: 1, startups: "accepted 1", fpdus: 71, ok: 71, ops: "Send 40 Write 11 ReadReq 10 ReadResp 10"},
	{name: "rping-p2p-write-nocrc.pcap", frames: 92, syns: 1, conns: 1, startups: "accepted 1", fpdus: 71, off: 71, ops: "Send 40 Write 11 ReadReq 10 ReadResp 10"},
	{name: "rping-rev1-crc.pcap", frames: 11, syns: 1, conns: 1, startups: "accepted 1", fpdus: 1, ok: 1, ops: "Send 1"},
	{name: "rping-rev1-nocrc.pcap", frames: 11, syns: 1, conns: 1, startups: "accepted 1", fpdus: 1, off: 1, ops: "Send 1"},
	{name: "rping-rev2-crc.pcap", frames: 91, syns: 1, conns: 1, startups: "accepted 1", fpdus: 70, ok: 70, ops: "Send 40 Write 10 ReadReq 10 ReadResp 10"},
	{name: "rping-rev2-nocrc.pcap", frames: 90, syns: 1, conns: 1, startups: "accepted 1", fpdus: 70, off: 70, ops: "Send 40 Write 10 ReadReq 10 ReadResp 10"},
	{name: "rstream-crc.pcap", frames: 203, syns: 1, conns: 1, startups: "accepted 1", fpdus: 129, ok: 129, ops: "Send 45 Write 84"},
	{name: "sll1-any-rping-crc.pcap", frames: 50, syns: 1, conns: 1, startups: "accepted 1", fpdus: 35, ok: 35, ops: "Send 20 Write 5 ReadReq 5 ReadResp 5"},
	// Eight messages of 20000 octets each way of testing: fifteen segments of 1424
	// (Send) or 1428 (Write) each. The exchange of parameters has 22 Sends and 4
	// Writes with ib_send_bw and 32 Sends with ib_write_bw, as in the captures of
	// these two with full packets.
	{name: "snap96-crc.pcap", frames: 463, syns: 4, conns: 4, startups: "accepted 4", fpdus: 298, ok: 24, unverifiable: 274, ops: "Send 174 Write 124"},
	{name: "term-rbadkey-nocrc.pcap", frames: 15, syns: 1, conns: 1, startups: "accepted 1", fpdus: 3, off: 3, ops: "Send 1 ReadReq 1 Terminate 1", unanswered: 1},
	{name: "term-rbadkey.pcap", frames: 15, syns: 1, conns: 1, startups: "accepted 1", fpdus: 3, ok: 3, ops: "Send 1 ReadReq 1 Terminate 1", unanswered: 1},
	{name: "term-read-rev1-ird0.pcap", frames: 15, syns: 1, conns: 1, startups: "accepted 1", fpdus: 3, ok: 3, ops: "Send 1 ReadReq 1 Terminate 1", unanswered: 1},
	{name: "term-send-norecv.pcap", frames: 13, syns: 1, conns: 1, startups: "accepted 1", fpdus: 2, ok: 2, ops: "Send 1 Terminate 1"},
	{name: "term-send-toolong.pcap", frames: 14, syns: 1, conns: 1, startups: "accepted 1", fpdus: 3, ok: 3, ops: "Send 2 Terminate 1"},
	{name: "term-wbadkey.pcap", frames: 15, syns: 1, conns: 1, startups: "accepted 1", fpdus: 4, ok: 4, ops: "Send 1 Write 2 Terminate 1"},
	{name: "term-wro.pcap", frames: 15, syns: 1, conns: 1, startups: "accepted 1", fpdus: 3, ok: 3, ops: "Send 1 Write 1 Terminate 1"},
	{name: "ulp-nfs-rdma-crc.pcap", frames: 1111, syns: 2, conns: 2, startups: "accepted 1 incomplete 1", fpdus: 842, ok: 842, ops: "Send 834 SendInv 4 Write 4"},
	{name: "ulp-nfs-rdma-start.pcap", frames: 55, syns: 1, conns: 1, startups: "accepted 1", fpdus: 39, ok: 39, ops: "Send 33 SendInv 3 Write 3"},
	{name: "ulp-nvme-rdma-crc.pcap", frames: 1334, syns: 2, conns: 2, startups: "accepted 2", fpdus: 461, ok: 461, ops: "Send 63 SendInv 32 Write 223 ReadReq 4 ReadResp 139"},
	{name: "ulp-nvme-rdma-crc-cut.pcap", frames: 84, syns: 2, conns: 2, startups: "accepted 2", fpdus: 40, ok: 40, ops: "Send 21 SendInv 5 Write 12 ReadReq 1 ReadResp 1"},
	{name: "ulp-rping-samens-crc.pcap", frames: 34, syns: 1, conns: 1, startups: "accepted 1", fpdus: 21, ok: 21, ops: "Send 12 Write 3 ReadReq 3 ReadResp 3"},
	{name: "vlan7-rping-crc.pcap", frames: 95, syns: 1, conns: 1, startups: "accepted 1", fpdus: 70, ok: 70, ops: "Send 40 Write 10 ReadReq 10 ReadResp 10"},
	// 53 connections, the startups and segments from the list of cases in
	// cases_test.go. 66 whole FPDUs, of which one has no CRC and two a wrong one,
	// and one that its sender never finished. 40 octets are no FPDU: their length
	// field says 65535, which RFC 5044 3 forbids, and the rest never came.
	{
		name: "hostfwd-raw-initiator-cases.pcap", frames: 690, syns: 53, conns: 53,
		startups: "accepted 43 incomplete 5 none-seen 1 rejected 4",
		fpdus:    67, ok: 63, bad: 2, off: 1, unverifiable: 1,
		ops:        "Send 35 SendSE 1 SendInv 1 Write 4 ReadReq 3 ReadResp 2 Terminate 18 Immediate 1 op15 1 none 1",
		unanswered: 2, unmatched: 1, unframed: 40,
	},

	// From Internet repositories; not part of the project. The server closes on
	// the Send with DDP version 0, and on the Read Request it sent itself.
	{name: "softuiwarp-send-2021-11-25.pcap", frames: 14, syns: 1, conns: 1, startups: "accepted 1", fpdus: 1, off: 1, ops: "Send 1"},
	{name: "softuiwarp-rping-2021-11-26.pcap", frames: 15, syns: 1, conns: 1, startups: "accepted 1", fpdus: 5, off: 5, ops: "Send 4 ReadReq 1", unanswered: 1},
}
