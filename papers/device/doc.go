// Package device measures the costs of DeComFL for devices other than queries: what an absent
// device fetches, and how much memory a device needs.
package device
