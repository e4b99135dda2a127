package e2e

import (
	"bufio"
	"bytes"
	"context"
	"html"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// tsharkField is a field as tshark prints it.
type tsharkField struct{ show, value, text string }

// tsharkPDU is what tshark makes of one startup frame or FPDU.
type tsharkPDU struct {
	fields    map[string]tsharkField
	again     []string // fields that occur a second time
	malformed bool
}

// tsharkFrame is a packet of tshark.
type tsharkFrame struct {
	number, stream int
	pdus           []*tsharkPDU
}

// tshark dissects a capture with it. The options are those with which it sees
// most: registered ports before the heuristics hide MPA on 4420 and 5445, and
// sorting of segments holds back all that follows one that snaplen cut.
func tshark(t *testing.T, path string, cut bool) []*tsharkFrame {
	t.Helper()
	program := tracetest.Tshark(t)
	reorder := "tcp.reassemble_out_of_order:TRUE"
	if cut {
		reorder = "tcp.reassemble_out_of_order:FALSE"
	}
	cmd := exec.CommandContext(context.Background(), program, "-n", "-r", path,
		"-o", "tcp.try_heuristic_first:TRUE", "-o", reorder,
		"-T", "pdml", "-J", "tcp iwarp_mpa iwarp_ddp_rdmap")
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v: %s", err, told.Bytes())
	}
	return parsePDML(t, out)
}

// parsePDML reads the elements of PDML, which tshark writes one a line. What
// belongs to a PDU follows its MPA layer.
func parsePDML(t *testing.T, out []byte) []*tsharkFrame {
	t.Helper()
	var frames []*tsharkFrame
	var now *tsharkFrame
	var pdu *tsharkPDU
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		line := strings.TrimLeft(lines.Text(), " ")
		switch {
		case line == "<packet>":
			now, pdu = &tsharkFrame{stream: -1}, nil
			frames = append(frames, now)
		case strings.HasPrefix(line, `<field name="num"`):
			now.number = atoi(t, attr(line, "show"))
		case strings.HasPrefix(line, `<field name="tcp.stream"`):
			now.stream = atoi(t, attr(line, "show"))
		case strings.HasPrefix(line, `<proto name="iwarp_mpa"`):
			pdu = &tsharkPDU{fields: map[string]tsharkField{}}
			now.pdus = append(now.pdus, pdu)
		case pdu != nil && strings.HasPrefix(line, `<proto name="_ws.malformed"`):
			pdu.malformed = true
		case pdu != nil && strings.HasPrefix(line, `<field name="iwarp_`):
			name := attr(line, "name")
			f := tsharkField{attr(line, "show"), attr(line, "value"), html.UnescapeString(attr(line, "showname"))}
			if _, there := pdu.fields[name]; there {
				pdu.again = append(pdu.again, name)
				continue
			}
			pdu.fields[name] = f
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return frames
}

// attr is the value of an attribute of an element.
func attr(line, name string) string {
	_, rest, ok := strings.Cut(line, " "+name+`="`)
	if !ok {
		return ""
	}
	v, _, _ := strings.Cut(rest, `"`)
	return v
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
