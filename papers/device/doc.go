// Package device asks what a run of DeComFL costs its devices beside their queries: what one
// fetches that was away, and how much memory it needs.
package device
