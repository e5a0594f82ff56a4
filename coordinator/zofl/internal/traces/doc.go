// Package traces sends spans of a run's rounds to a collector of OpenTelemetry, with OTLP over
// HTTP.
//
// The package uses neither OpenTelemetry's exporters, which link gRPC even for HTTP, nor its SDK.
// Each span has ended when the package reports it, so the package needs only the messages, whose Go
// code OpenTelemetry publishes.
package traces
