// Package link is what lies between two hosts: time, a link that delays,
// loses, repeats and reorders packets, and the point on it where a capture is
// taken.
//
// Each packet goes over a line from its sender to the capture point, and over
// another one from there to its receiver. What is lost on the first is never
// seen; what is lost on the second is seen, and seen again when it is sent
// again.
package link
