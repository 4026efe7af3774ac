/** Installs the native library. Its install script only downloads CUDA files, which are not used. */
export const installNative = 'npm install --ignore-scripts onnxruntime-node@1.30.0'
