#include "textflag.h"

// The sixteen digits, for both halves of a register.
DATA ·sixteen<>+0(SB)/8, $0x3736353433323130
DATA ·sixteen<>+8(SB)/8, $0x6665646362613938
DATA ·sixteen<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f // of a digit's bits
GLOBL ·sixteen<>(SB), RODATA|NOPTR, $24

// func writeHex(digits *byte, f *Felt)
TEXT ·writeHex(SB), NOSPLIT, $0-16
	MOVQ digits+0(FP), DI
	MOVQ f+8(FP), SI

	VBROADCASTI128 ·sixteen<>+0(SB), Y3
	VPBROADCASTQ   ·sixteen<>+16(SB), Y4
	VMOVDQU        (SI), Y0
	VPSRLW         $4, Y0, Y1
	VPAND          Y4, Y0, Y0
	VPAND          Y4, Y1, Y1
	VPSHUFB        Y0, Y3, Y0 // the second digits
	VPSHUFB        Y1, Y3, Y1 // the first ones

	// In turns; each half of a register has a half of the bytes.
	VPUNPCKLBW Y0, Y1, Y2
	VPUNPCKHBW Y0, Y1, Y1
	VPERM2I128 $0x20, Y1, Y2, Y0
	VPERM2I128 $0x31, Y1, Y2, Y1
	VMOVDQU    Y0, (DI)
	VMOVDQU    Y1, 32(DI)
	VZEROUPPER
	RET
