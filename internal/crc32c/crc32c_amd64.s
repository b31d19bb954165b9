#include "textflag.h"

// FILL reads one quarter of the first stride into R. Its bytes from the end of
// the padding on (which all bytes of Z8 say) come from the message, in order;
// the others become 0. SI is where the stride would begin, BX where the message
// does: the read begins at neither if that is further on.
#define FILL(OFFSET, MASK, R) \
	VPCMPUB      $2, ·positions+OFFSET(SB), Z8, MASK \
	LEAQ         OFFSET(SI), DX \
	CMPQ         DX, BX \
	CMOVQCS      BX, DX \
	VPEXPANDB.Z  (DX), MASK, R

// MOVE multiplies each pair of words in R by the pair of weights in W. The
// products are in R and T, and are to be added.
#define MOVE(W, R, T) \
	VPCLMULQDQ $0x00, W, R, T \
	VPCLMULQDQ $0x11, W, R, R

// ADD adds A and B to R: 0x96 is the truth table of an XOR of three.
#define ADD(A, B, R) VPTERNLOGQ $0x96, A, B, R

// func fold(p *byte, n, pad int, start uint32) uint32
TEXT ·fold(SB), NOSPLIT, $0-36
	MOVQ p+0(FP), BX
	MOVQ n+8(FP), CX
	MOVQ pad+16(FP), AX
	MOVL start+24(FP), DI
	MOVQ BX, SI
	SUBQ AX, SI
	ADDQ AX, CX

	VPBROADCASTB AX, Z8
	FILL(0, K1, Z0)
	FILL(64, K2, Z1)
	FILL(128, K3, Z2)
	FILL(192, K4, Z3)

	// A register that held start is one that held 0 and sees start added to
	// the first 32 bits.
	VMOVD  DI, X8
	VPXORQ Z8, Z0, Z0

	VBROADCASTI32X4 ·weights+0(SB), Z9
	SUBQ            $256, CX
	JEQ             last

next:
	ADDQ $256, SI
	MOVE(Z9, Z0, Z4)
	MOVE(Z9, Z1, Z5)
	MOVE(Z9, Z2, Z6)
	MOVE(Z9, Z3, Z7)
	ADD((SI), Z4, Z0)
	ADD(64(SI), Z5, Z1)
	ADD(128(SI), Z6, Z2)
	ADD(192(SI), Z7, Z3)
	SUBQ $256, CX
	JNE  next

last:
	MOVE(·weights+16(SB), Z0, Z4)
	MOVE(·weights+80(SB), Z1, Z5)
	MOVE(·weights+144(SB), Z2, Z6)
	MOVE(·weights+208(SB), Z3, Z7)
	ADD(Z1, Z4, Z0)
	ADD(Z3, Z6, Z2)
	ADD(Z5, Z7, Z0)
	VPXORQ Z2, Z0, Z0

	// What is left of the 64 bytes are four parts of one sum of 16 bytes.
	VEXTRACTI64X4 $1, Z0, Y1
	VPXOR         Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPXOR         X1, X0, X0

	VMOVQ   X0, AX
	VPEXTRQ $1, X0, BX
	XORL    DX, DX
	CRC32Q  AX, DX
	CRC32Q  BX, DX
	VZEROUPPER
	MOVL    DX, ret+32(FP)
	RET
