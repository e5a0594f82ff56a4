module github.com/zofl/zofl

go 1.26.0

require (
	github.com/nats-io/nats.go v1.55.0
	github.com/vmihailenco/msgpack/v5 v5.4.1
)
