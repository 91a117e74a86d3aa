/* Classes, categories and protocols, without any SDK header. */
typedef struct objc_class *Class;
typedef struct objc_object { Class isa; } *id;
typedef struct objc_selector *SEL;

__attribute__((objc_root_class)) @interface Root {
	Class isa;
}
+ (id)alloc;
- (id)init;
@end

@protocol Drawable
- (void)drawAt:(int)x y:(int)y;
+ (id)standard;
@optional
- (double)weightOf:(id)other;
@property(readonly) int corners;
@end

@protocol Named <Drawable>
- (const char *)name;
@end

@interface Shape : Root <Named> {
	int sides;
	double scale;
	struct { float x, y; } origin;
}
@property int sides;
@property(copy) id label;
+ (id)square;
@end

@implementation Shape
@synthesize sides;
@synthesize label;
+ (id)square { return [[self alloc] init]; }
+ (id)standard { return [self square]; }
- (void)drawAt:(int)x y:(int)y { origin.x = x; origin.y = y; scale = sides; }
- (const char *)name { return "shape"; }
- (int)corners { return sides; }
@end

@interface Shape (Extra)
- (int)area:(int)unit;
+ (int)count;
@end
@implementation Shape (Extra)
- (int)area:(int)unit { return self.sides * unit; }
+ (int)count { return 1; }
@end

@interface External : Root
- (id)remote;
@end
@interface External (Added)
- (id)added;
@end
@implementation External (Added)
- (id)added { return [self remote]; }
@end

@interface Child : External
@end
@implementation Child
- (id)remote { return [super remote]; }
@end
