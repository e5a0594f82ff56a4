// Package device measures two costs of DeComFL for devices: the traffic of a device that was
// absent, and the memory that a device needs.
package device
