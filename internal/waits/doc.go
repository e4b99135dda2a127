// Package waits tells how many Reads and atomics wait for their answer, and since when.
//
// Analysis hands out PDUs in the order in which they become known. Those behind octets that are missing become known late, long after what the
// other side sent meanwhile, so the counts of a connection are wrong in between: requests are known and their answers are not. Here what happens
// meanwhile is put in the order of its times, and a request whose answer may be among what is missing does not count as one that waits.
package waits
