#include "textflag.h"

// 64 zeros and 64 ones: from byte n on, those of the last n bytes of 64 are ones.
DATA ·last<>+64(SB)/8, $-1
DATA ·last<>+72(SB)/8, $-1
DATA ·last<>+80(SB)/8, $-1
DATA ·last<>+88(SB)/8, $-1
DATA ·last<>+96(SB)/8, $-1
DATA ·last<>+104(SB)/8, $-1
DATA ·last<>+112(SB)/8, $-1
DATA ·last<>+120(SB)/8, $-1
GLOBL ·last<>(SB), RODATA|NOPTR, $128

// The constants, each for all bytes.
DATA ·each<>+0(SB)/8, $0x2222222222222222 // a quote
DATA ·each<>+8(SB)/8, $0x3030303030303030 // '0'
DATA ·each<>+16(SB)/8, $0x0909090909090909
DATA ·each<>+24(SB)/8, $0x2020202020202020 // of a small letter
DATA ·each<>+32(SB)/8, $0x6161616161616161 // 'a'
DATA ·each<>+40(SB)/8, $0x0505050505050505
DATA ·each<>+48(SB)/8, $0x0a0a0a0a0a0a0a0a
DATA ·each<>+56(SB)/8, $0x0110011001100110 // what the two digits of a byte count
GLOBL ·each<>(SB), RODATA|NOPTR, $64

// VALUES turns 32 digits into their numbers, with ok ones where there was a digit.
// Y8 to Y14 are the constants from '0' on.
#define VALUES(x, ok, t) \
	VPOR     Y10, x, t    \
	VPSUBB   Y11, t, t    \ // from 'a'
	VPSUBB   Y8, x, x     \ // from '0'
	VPMINUB  Y12, t, ok   \
	VPCMPEQB ok, t, ok    \ // a letter
	VPADDB   Y13, t, t    \
	VPMINUB  Y9, x, Y6    \
	VPCMPEQB Y6, x, Y6    \ // a decimal digit
	VPBLENDVB ok, t, x, x \
	VPOR     Y6, ok, ok

// func scanHex(f *Felt, digits *byte) int
TEXT ·scanHex(SB), NOSPLIT, $0-24
	MOVQ f+0(FP), DI
	MOVQ digits+8(FP), SI

	// Where the digits end.
	VPBROADCASTQ ·each<>+0(SB), Y7
	VPCMPEQB     (SI), Y7, Y0
	VPCMPEQB     32(SI), Y7, Y1
	VPMOVMSKB    Y0, AX
	VPMOVMSKB    Y1, BX
	SHLQ         $32, BX
	ORQ          BX, AX
	MOVQ         $64, CX
	BSFQ         AX, BX
	CMOVQNE      BX, CX // zero flag: no quote

	// The 64 bytes in front of that, and zeros for those that are not of the number.
	VPBROADCASTQ ·each<>+8(SB), Y8
	ADDQ         CX, SI
	LEAQ         ·last<>(SB), DX
	VMOVDQU      (DX)(CX*1), Y2
	VMOVDQU      32(DX)(CX*1), Y3
	VMOVDQU      -64(SI), Y0
	VMOVDQU      -32(SI), Y1
	VPBLENDVB    Y2, Y0, Y8, Y0
	VPBLENDVB    Y3, Y1, Y8, Y1

	VPBROADCASTQ ·each<>+16(SB), Y9
	VPBROADCASTQ ·each<>+24(SB), Y10
	VPBROADCASTQ ·each<>+32(SB), Y11
	VPBROADCASTQ ·each<>+40(SB), Y12
	VPBROADCASTQ ·each<>+48(SB), Y13
	VPBROADCASTQ ·each<>+56(SB), Y14
	VALUES(Y0, Y2, Y4)
	VALUES(Y1, Y3, Y5)

	// Two digits are a byte.
	VPMADDUBSW Y14, Y0, Y0
	VPMADDUBSW Y14, Y1, Y1
	VPACKUSWB  Y1, Y0, Y0
	VPERMQ     $0xd8, Y0, Y0
	VMOVDQU    Y0, (DI)

	VPAND     Y2, Y3, Y2
	VPMOVMSKB Y2, AX
	VZEROUPPER
	MOVQ      $-1, BX
	CMPL      AX, $-1
	CMOVQNE   BX, CX
	MOVQ      CX, ret+16(FP)
	RET
