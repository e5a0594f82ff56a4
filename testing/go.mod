module github.com/zofl/zofl/testing

go 1.26.0

require (
	github.com/nats-io/nats-server/v2 v2.15.2
	github.com/nats-io/nats.go v1.55.0
	github.com/zofl/zofl v0.1.0
	gonum.org/v1/gonum v0.17.0
)

replace github.com/zofl/zofl => ../
