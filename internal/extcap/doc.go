// Package extcap has the interface by which Wireshark and its kin capture with another program
// (extcap(4) of Wireshark). The program is found in a folder, and is called
//
//   - to list its interfaces,
//   - for the link types of one of them,
//   - for the options of one of them, which Wireshark shows in a dialog,
//   - to verify a capture filter,
//   - to capture, into a named pipe.
//
// [Parse] reads such a call, the other functions write the answers. What Wireshark reads on
// standard error it shows to the user as an error: nothing else belongs there.
package extcap
