// Package dataset writes what is known of captures as Parquet files, and reads them again.
//
// A dataset is a folder with tables, each of which is a folder with a partition for each point:
//
//	DIR/connections/point=NAME/part-0of1-HASH.parquet
//	DIR/manifests/point=NAME/analyze-0of1-HASH.json
//
// A point is one capture; it may be analysed in shards, of which each has some of the connections.
// A [Writer] writes the tables of a shard and then its [Manifest], which names the files with
// their sizes and hashes. What no manifest names does not count: it was left by a task that did
// not come to its end. Names are made of the hash of the content, so a task that runs twice
// writes the same files.
//
// The columns are those of the rows in this package: [Connection], [Finding], [Transaction],
// [PDU] and [Diagnosis]. [Schema] is their version, which counts up when a column changes its
// meaning or goes; a column that is added does not change it.
package dataset
