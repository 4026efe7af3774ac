/** Gets the native library. Its own install script only fetches files for CUDA, which are not used. */
export const installNative = 'npm install --ignore-scripts onnxruntime-node@1.30.0'
