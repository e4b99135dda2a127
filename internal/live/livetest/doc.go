// Package livetest gives a test two joined network interfaces of its own, in a
// network namespace that goes away with the test, and sends frames on them.
// Nothing it does reaches another interface. It works on Linux as root; a test
// is skipped elsewhere, or fails if the environment says that live tests are
// required.
package livetest
