package layers_test

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/gopacket/pcapgo"

	"github.com/iwdissect/iwdissect/layers"
)

// Frames of a file that gopacket reads. iwdissect.NewSource takes the source.
func ExampleNewSource() {
	f, err := os.Open("../testdata/pcaps/rping-p2p-write-crc.pcap")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	handle, err := pcapgo.NewReader(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	src, frames, octets := layers.NewSource(handle), 0, 0
	for {
		frame, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		frames++
		octets += frame.Length
	}
	fmt.Println(frames, "frames,", octets, "octets")
	// Output: 93 frames, 10026 octets
}
