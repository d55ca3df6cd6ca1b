// SPDX-License-Identifier: BSL-1.0
// Prints all numbers of the docs' pictures as one JSON object, a member for each picture: attest_pictures_data DUMPS, the folder tests/dumps.
#include "data.hpp"

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
    using namespace attest::pictures;
    if (argc != 2) {
        std::cerr << "usage: attest_pictures_data DUMPS\n";
        return 2;
    }
    try {
        const std::filesystem::path dumps = argv[1];
        json all;
        all["attention_heat_maps"] = attention_heat_maps();
        all["output_geometry"] = output_geometry();
        all["saturation"] = saturation();
        all["score_distribution"] = score_distribution();
        all["sensitivity"] = sensitivity();
        all["sinusoidal"] = sinusoidal_positions();
        all["rope_rotation"] = rope_rotation();
        all["relu_gelu"] = relu_gelu();
        all["layer_norm_epsilon"] = layer_norm_epsilon();
        all["ulp_errors"] = ulp_errors(dumps);
        all["ladder"] = ladder(dumps);
        all["causal_alignment"] = causal_alignment();
        all["blocks"] = block_shapes(); // of norm_placement, encoder_block, decoder_block and multi_head
        all["gradient_flow"] = gradient_flow();
        all["residual"] = residual_slope();
        all["variance_growth"] = variance_growth();
        std::cout << all.dump(1) << '\n';
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
    return 0;
}
