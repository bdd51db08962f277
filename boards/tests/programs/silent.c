// SPDX-License-Identifier: Apache-2.0
//
// Ends with success without saying so.
int main(void) { return 0; }
