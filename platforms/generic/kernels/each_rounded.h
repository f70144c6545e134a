/* Every operation is rounded by itself: a product and a sum do not become one. Behind `static`, and first in a body. */
#if defined(__clang__)
#define TILEWRIGHT_EACH_ROUNDED
#define TILEWRIGHT_EACH_ROUNDED_BODY _Pragma("STDC FP_CONTRACT OFF")
#elif defined(__GNUC__)
#define TILEWRIGHT_EACH_ROUNDED __attribute__((optimize("fp-contract=off")))
#define TILEWRIGHT_EACH_ROUNDED_BODY
#else
#define TILEWRIGHT_EACH_ROUNDED
#define TILEWRIGHT_EACH_ROUNDED_BODY
#endif
