// Empty does nothing: it is what starting any Go program takes.
package main

func main() {}
