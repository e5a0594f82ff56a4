// Package durability holds nothing but tests: runs whose log is in the JetStream of three real
// servers, while the servers are killed, stopped, cut off, lose their power or find damaged files.
// An oracle judges each run: a record that was acknowledged is in the log, or a coordinator has
// said that it is not, and no device holds another state than the log without a word.
package durability
