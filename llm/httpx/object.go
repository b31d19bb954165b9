package httpx

// EndArray is what follows the last value of an array that is a member of an object: the
// end of the array, and what members has, which is an object.
func EndArray(members []byte) []byte {
	end := []byte("]")
	if len(members) > len("{}") {
		end = append(append(end, ','), members[1:len(members)-1]...)
	}
	return append(end, '}')
}
