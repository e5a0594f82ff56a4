module github.com/zofl/zofl/coordinator/zofl

go 1.26.0

require (
	github.com/nats-io/nats.go v1.55.0
	github.com/spf13/cobra v1.10.2
	github.com/zofl/zofl v0.1.0
	github.com/zofl/zofl/testing v0.1.0
)

replace (
	github.com/zofl/zofl => ../../
	github.com/zofl/zofl/testing => ../../testing
)
