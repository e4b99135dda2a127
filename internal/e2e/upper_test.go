package e2e

import (
	"context"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// upperNames are the fields of SMB Direct and RPC-over-RDMA that tshark has too. Those of
// SMB2, RPC and NFS that only we show of a frame, or only tshark does, are told below.
var upperNames = []string{
	"smb_direct.version.min", "smb_direct.version.max", "smb_direct.version.negotiated", "smb_direct.credits.requested",
	"smb_direct.credits.granted", "smb_direct.status", "smb_direct.max_read_write_size", "smb_direct.preferred_send_size",
	"smb_direct.max_receive_size", "smb_direct.max_fragmented_size", "smb_direct.flags", "smb_direct.flags.response_requested",
	"smb_direct.remaining_length", "smb_direct.data_offset", "smb_direct.data_length",
	"smb2.protocol_id", "smb2.header_len", "smb2.credit.charge", "smb2.nt_status", "smb2.cmd", "smb2.flags", "smb2.flags.response",
	"smb2.flags.async", "smb2.chain_offset", "smb2.msg_id", "smb2.sesid", "smb2.read_length", "smb2.write_length", "smb2.file_offset",
	"smb2.channel_sequence", "smb2.channel", "smb2.channel_info_offset", "smb2.channel_info_length", "smb2.remaining_bytes",
	"rpcordma.xid", "rpcordma.version", "rpcordma.flow_control", "rpcordma.msg_type", "rpcordma.reads_count", "rpcordma.writes_count",
	"rpcordma.reply_count", "rpcordma.segment_count", "rpcordma.position", "rpcordma.rdma_handle", "rpcordma.rdma_length",
	"rpcordma.rdma_offset", "rpcordma.errcode", "rpcordma.vers_low", "rpcordma.vers_high",
	"rpc.xid", "rpc.msgtyp", "rpc.version", "rpc.program", "rpc.programversion", "rpc.procedure", "rpc.replystat", "rpc.state_accept",
	"rpc.state_reject", "rpc.state_auth", "rpc.auth.flavor", "rpc.auth.length",
	"nfs.procedure_v3", "nfs.procedure_v4", "nfs.ops.count", "nfs.minorversion", "nfs.main_opcode", "nfs.cb_procedure",
}

// theirs are the values of fields in the frames of a capture, by tshark.
func tsharkUpper(t *testing.T, path string) []map[string]string {
	t.Helper()
	program := tracetest.Tshark(t)
	args := []string{"-n", "-r", path, "-o", "tcp.try_heuristic_first:TRUE", "-T", "fields", "-E", "separator=/t", "-E", "aggregator=,"}
	for _, name := range upperNames {
		args = append(args, "-e", name)
	}
	out, err := exec.CommandContext(context.Background(), program, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var frames []map[string]string
	for line := range strings.Lines(string(out)) {
		f := map[string]string{}
		for i, v := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			if v != "" {
				f[upperNames[i]] = v
			}
		}
		frames = append(frames, f)
	}
	return frames
}

// oursUpper are those of our records, in the form of tshark.
func oursUpper(t *testing.T, path string) map[int]map[string]string {
	t.Helper()
	frames := map[int]map[string]string{}
	for _, p := range dissect(t, path).pdus {
		f := frames[p.Frame]
		if f == nil {
			f = map[string]string{}
			frames[p.Frame] = f
		}
		for name, v := range p.Fields {
			if !slices.Contains(upperNames, name) {
				continue
			}
			if f[name] != "" {
				f[name] += ","
			}
			f[name] += tsharkText(v)
		}
	}
	return frames
}

func tsharkText(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.Itoa(map[bool]int{true: 1}[v])
	case json.Number:
		return v.String()
	case string:
		return v
	case []any:
		var all []string
		for _, x := range v {
			all = append(all, tsharkText(x))
		}
		return strings.Join(all, ",")
	}
	return "?"
}

// What tshark does otherwise.
const (
	severalTimes  = "tshark shows it several times"
	laterCall     = "tshark shows a call with read chunks in the frame that brings the last of them"
	outOfChunk    = "tshark reads an RPC message out of its chunk"
	severalMain   = "tshark has several main operations"
	noChannelInfo = "tshark shows the descriptors and not where they are"
	writeResponse = "tshark decodes the response to a WRITE"
	inventsCall   = "tshark invents the call of a reply whose call it did not read"
	laterSMB2     = "tshark shows SMB2 in the frame that brings the last fragment"
)

// upperFault names what tshark does otherwise where it and we differ on a field of a frame;
// "" if they must not differ.
func upperFault(name, ours, theirs string, our, their map[string]string) string {
	rpc := strings.HasPrefix(name, "rpc.") || strings.HasPrefix(name, "nfs.")
	reads := our["rpcordma.reads_count"] != "" && our["rpcordma.reads_count"] != "0"
	type fault struct {
		met  bool
		name string
	}
	for _, f := range []fault{
		{rpc && ours == "" && (theirs == "0" || theirs == "0,0") && our["rpc.msgtyp"] == "1", inventsCall},
		{rpc && repeated(ours, theirs), severalTimes},
		{rpc && theirs == "" && reads, laterCall},
		{rpc && our["rpcordma.msg_type"] != "0", outOfChunk},
		{name == "nfs.main_opcode" && strings.HasSuffix(","+theirs, ","+ours), severalMain},
		{strings.HasPrefix(name, "smb2.channel_info") && our["smb2.flags.response"] != "1", noChannelInfo},
		{strings.HasPrefix(name, "smb2.channel_info"), writeResponse},
		{strings.HasPrefix(name, "smb2.") && theirs == "" && our["smb_direct.remaining_length"] != "0", laterSMB2},
		{strings.HasPrefix(name, "smb2.") && our["smb2.protocol_id"] == "" && their["smb_direct.data_length"] != "0", laterSMB2},
	} {
		if f.met {
			return f.name
		}
	}
	return ""
}

// repeated reports whether values are others several times.
func repeated(once, several string) bool {
	if once == "" || len(several) <= len(once) {
		return false
	}
	for all := once; len(all) <= len(several); all += "," + once {
		if all == several {
			return true
		}
	}
	return false
}

// TestUpper_Tshark compares what upper layers are shown, frame by frame and field by field.
func TestUpper_Tshark(t *testing.T) {
	for _, c := range []struct {
		name string
		same int // values
		// met is how many values differ, by what tshark does otherwise. A tshark that does
		// better makes it stale.
		met map[string]int
	}{
		{"generated/ulp-smb-direct.pcapng", 275, map[string]int{laterSMB2: 22, noChannelInfo: 4, writeResponse: 2}},
		{"generated/ulp-nfs-rdma.pcapng", 214, map[string]int{outOfChunk: 17, laterCall: 18, severalTimes: 41, inventsCall: 3}},
		{"ulp-nfs-rdma-start.pcap", 644, map[string]int{severalMain: 2, outOfChunk: 21, severalTimes: 36}},
		{"ulp-nfs-rdma-crc.pcap", 15081, map[string]int{severalMain: 2, outOfChunk: 28, severalTimes: 838}},
	} {
		t.Run(filepath.Base(c.name), func(t *testing.T) {
			path := find(t, c.name)
			their, our := tsharkUpper(t, path), oursUpper(t, path)
			met, same := map[string]int{}, 0
			for i, theirs := range their {
				ours := our[i+1]
				for _, name := range upperNames {
					switch o, x := ours[name], theirs[name]; {
					case o == x && o != "":
						same++
					case o == x:
					default:
						fault := upperFault(name, o, x, ours, theirs)
						if fault == "" {
							t.Errorf("frame %d: %s is %q; tshark has %q", i+1, name, o, x)
						}
						met[fault]++
					}
				}
			}
			if same != c.same || !maps.Equal(met, c.met) {
				t.Errorf("%d values are the same, want %d; others by what tshark does:\n%v, want\n%v", same, c.same, met, c.met)
			}
		})
	}
}
