// Package device measures what a run of DeComFL costs its devices besides their queries: what an
// absent device fetches, and how much memory a device needs.
package device
